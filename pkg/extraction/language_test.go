package extraction

import (
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

// foreign holds the same kind of text in languages that no English vocabulary covers.
var foreign = map[string]string{
	"German": `Lernziele
Die Studierenden können die Grundlagen der Programmierung erklären und einfache Algorithmen in Python implementieren.
Sie analysieren elektrische Schaltungen und wenden die Gesetze der Thermodynamik auf technische Systeme an.
Inhalt: Datenstrukturen, Sortieralgorithmen, Datenbanken, Projektmanagement, Statistik und Optik.`,
	"French": `Objectifs du cours
Les étudiants seront capables d'expliquer les principes de la communication et de la gestion de projet.
Ils appliquent les méthodes de la statistique et de la programmation à des problèmes d'ingénierie industrielle.
Contenu : algorithmes, bases de données, électronique, thermodynamique, gestion financière et innovation.`,
	"Spanish": `Resultados de aprendizaje
Los estudiantes serán capaces de explicar los principios de la ingeniería mecánica y de la termodinámica.
Aplicarán métodos de programación y estadística para resolver problemas de comunicación y de electrónica.
Contenido: algoritmos, bases de datos, materiales, gestión de proyectos, economía y marketing digital.`,
	"Italian": `Obiettivi formativi
Gli studenti saranno in grado di spiegare i principi della meccanica e della termodinamica applicata.
Analizzano circuiti elettrici e applicano i metodi della statistica e della programmazione a problemi reali.
Contenuti: algoritmi, basi di dati, materiali, gestione dei progetti, economia e comunicazione.`,
	"Dutch": `Leerdoelen
De studenten kunnen de principes van de mechanica uitleggen en eenvoudige algoritmen in Python schrijven.
Zij passen methoden van statistiek en projectmanagement toe op problemen uit de praktijk van de techniek.
Inhoud: databanken, elektronica, thermodynamica, marketing, communicatie en financieel beheer.`,
	"Russian": `Цели курса
Студенты смогут объяснить основы программирования и применять алгоритмы на языке Python.
Содержание: структуры данных, базы данных, статистика, управление проектами.`,
	"Chinese": "课程目标\n学生能够解释编程的基本原理,并使用 Python " +
		"实现简单的算法。\n内容:数据结构、数据库、统计学、项目管理、热力学和电子学。",
	"Hindi": "पाठ्यक्रम के उद्देश्य\nछात्र " +
		"प्रोग्रामिंग के मूल सिद्धांतों को समझा " +
		"सकेंगे और Python में सरल एल्गोरिदम लागू कर " +
		"सकेंगे।",
}

func TestForeignTextsGiveNoSkills(t *testing.T) {
	vocabularies := map[string]*skills.Taxonomy{"starter": Starter()}
	t.Run("starter", func(t *testing.T) { refuses(t, vocabularies["starter"]) })
	t.Run("esco", func(t *testing.T) { refuses(t, openESCO(t)) })
}

func refuses(t *testing.T, tax *skills.Taxonomy) {
	e := NewExtractor(tax, opened(t))
	for language, text := range foreign {
		r := extracted(t, e, catalog.SyllabusText{Text: text})
		if len(r.Skills) > 0 || len(r.Evidence) > 0 || len(r.Warnings) != 1 ||
			r.Warnings[0].Code != catalog.LanguageNotCovered {
			t.Errorf("%s: %+v", language, r)
		}
	}
}

// TestEnglishIsRecognized holds texts that look foreign to statistics over
// letters, since they are lists of terms.
func TestEnglishIsRecognized(t *testing.T) {
	e := NewExtractor(Starter(), opened(t))
	for _, text := range []string{
		"javascript reactjs java",
		"SQL",
		"Engine components, drive train, starting & charging systems, ignition, suspension, brakes, steering.\nSI engine " +
			"management: feedback carburetor, throttle body injection, multi-point fuel injection.\nDigital engine control: " +
			"open loop and closed loop control systems, PID control, lookup tables.",
		"Résumé writing, naïve Bayes, Schrödinger equation, Poincaré map.",
		"",
		"12 34 56",
	} {
		for _, w := range extracted(t, e, catalog.SyllabusText{Text: text}).Warnings {
			if w.Code == catalog.LanguageNotCovered {
				t.Errorf("not English: %q", text)
			}
		}
	}
}

func TestVocabularyMismatchIsToldApart(t *testing.T) {
	text := "The quokka and the wombat wander over the eucalypt heath, and the bandicoot burrows under the spinifex " +
		"while the kookaburra chortles at the numbat. "
	r := extracted(t, NewExtractor(openSmall(t), opened(t)), catalog.SyllabusText{Text: text + text + text + text})
	if len(r.Skills) != 0 || len(r.Warnings) != 1 || r.Warnings[0].Code != catalog.VocabularyMismatch {
		t.Errorf("%+v", r)
	}
	r = extracted(t, NewExtractor(openSmall(t), opened(t)), catalog.SyllabusText{Text: "We meet on Monday."})
	if len(r.Skills) != 0 || len(r.Warnings) != 0 {
		t.Errorf("a short text without skills: %+v", r)
	}
}
