import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Returns the sources of a Bazel workspace of a few hundred actions: C++ libraries in layers (compile and archive each)
 * and rules that derive texts from texts. By path; to be copied over the sample workspace, which contains the
 * toolchains.
 */
export function bazelProject(
  libraries: number,
  revisions: ReadonlyMap<number, number> = new Map(),
): Record<string, string> {
  const files: Record<string, string> = {};
  const layer = 10;
  for (let n = 0; n < libraries; n++) {
    const below =
      n < layer
        ? []
        : [n - layer, n - layer + ((n * 3) % layer) - (n % layer)].filter((d) => d >= 0);
    const deps = [...new Set(below)];
    const revision = revisions.get(n) ?? 0;
    files[`many/l${n}/BUILD`] = `package(default_visibility = ["//visibility:public"])
cc_library(name = "l${n}", srcs = ["l${n}.cc"], hdrs = ["l${n}.h"], deps = [${deps.map((d) => `"//many/l${d}"`).join(", ")}])
genrule(name = "text", srcs = ["l${n}.h"], outs = ["text.txt"], cmd = "sort $< | tr a-z A-Z > $@")
`;
    files[`many/l${n}/l${n}.h`] = `int l${n}(int x);\n`;
    files[`many/l${n}/l${n}.cc`] =
      `${[n, ...deps].map((d) => `#include "many/l${d}/l${d}.h"`).join("\n")}
#include <string>
#include <vector>
int l${n}(int x) {
  std::vector<std::string> words;
  for (int i = 0; i < x; i++) words.push_back(std::to_string(i + ${revision}));
  return (int)words.size()${deps.map((d) => ` + l${d}(x - 1)`).join("")};
}
`;
  }
  const all = Array.from({ length: libraries }, (_, n) => n);
  files["many/BUILD"] =
    `cc_binary(name = "app", srcs = ["app.cc"], deps = [${all.map((n) => `"//many/l${n}"`).join(", ")}])
filegroup(name = "texts", srcs = [${all.map((n) => `"//many/l${n}:text"`).join(", ")}])
filegroup(name = "all", srcs = [":app", ":texts"])
`;
  files["many/app.cc"] = `${all.map((n) => `#include "many/l${n}/l${n}.h"`).join("\n")}
int main() { return 0${all.map((n) => ` + 0 * l${n}(1)`).join("")}; }
`;
  return files;
}

export async function writeFiles(
  path: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), text);
  }
}
