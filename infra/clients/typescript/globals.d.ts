// What the program uses of Node; its own types are not installed.
declare const process: { env: Record<string, string | undefined> };
