import type { Kind } from "../kind.ts";

const names = ["GNUmakefile", "makefile", "Makefile"];

/** Makefiles, and `configure` scripts that write one. */
export const make: Kind = {
  name: "make",
  mark: /^(GNUmakefile|makefile|Makefile|configure)$/,
  group: "native",
  yields: true,
  recognise(project) {
    const tools = [
      { program: "make", package: "make" },
      { program: "cc", package: "gcc" },
    ];
    const file = names.find((name) => project.has(name));
    if (file === undefined) {
      const commands = ["./configure", "make", "make check"];
      return { found: "configure", jobs: [{ name: "make", commands }], tools };
    }
    const text = project.text(file) ?? "";
    const targets = ["all", "test", "check"].filter((name) => hasTarget(text, name));
    const first = firstTarget(text);
    const chosen = targets.includes("test") ? targets.filter((name) => name !== "check") : targets;
    const commands =
      chosen.length > 0
        ? chosen.map((name) => `make ${name}`)
        : first === undefined
          ? []
          : ["make"];
    return {
      found: `${file}${chosen.length === 0 ? "" : ` with ${chosen.join(", ")}`}`,
      jobs: commands.length === 0 ? [] : [{ name: "make", commands }],
      tools: usesCompiler(text) ? tools : tools.slice(0, 1),
    };
  },
};

function hasTarget(text: string, name: string): boolean {
  return new RegExp(`^(?:[\\w./-]+\\s+)*${name}(?:\\s+[\\w./-]+)*\\s*::?(?!=)`, "m").test(text);
}

function firstTarget(text: string): string | undefined {
  return /^([A-Za-z][\w./-]*)\s*::?(?!=)/m.exec(text)?.[1];
}

function usesCompiler(text: string): boolean {
  return /\$[({]?(CC|CXX|LD|AR)\b|\b(gcc|cc|clang|g\+\+)\b|%\.o/.test(text);
}
