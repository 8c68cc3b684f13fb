import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A typical C++ code base for ccache: many files that share headers, and a Makefile. */
interface CcacheProject {
  readonly files: number;
}

const perLibrary = 10;

/** Writes the sources below `path`: a file's text is determined by its number and the revision of its library. */
export async function writeCcacheProject(
  path: string,
  { files }: CcacheProject,
  revisions: ReadonlyMap<number, number> = new Map(),
): Promise<void> {
  await mkdir(join(path, "src"), { recursive: true });
  await mkdir(join(path, "include"), { recursive: true });
  const libraries = Math.ceil(files / perLibrary);
  for (let library = 0; library < libraries; library++) {
    await writeFile(join(path, "include", `library${library}.h`), header(library, revisions));
  }
  for (let file = 0; file < files; file++) {
    await writeFile(join(path, "src", `part${file}.cc`), source(file, revisions));
  }
  await writeFile(join(path, "src", "main.cc"), mainSource(files));
  await writeFile(join(path, "Makefile"), makefile);
  await writeFile(join(path, ".gitignore"), "build/\n");
}

/** The changes of a commit: sometimes a source file, less often a header that ten files include. */
export function revisionsAfter(commits: number, files: number): Map<number, number> {
  const revisions = new Map<number, number>();
  for (let commit = 1; commit <= commits; commit++) {
    const touched = [(commit * 7) % files, (commit * 13 + 5) % files];
    for (const file of touched) revisions.set(file, commit);
    if (commit % 5 === 0)
      revisions.set(-1 - ((commit / 5) % Math.ceil(files / perLibrary)), commit);
  }
  return revisions;
}

function header(library: number, revisions: ReadonlyMap<number, number>): string {
  const revision = revisions.get(-1 - library) ?? 0;
  return `#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>
namespace library${library} {
constexpr int revision = ${revision};
template <typename T> T most(const std::vector<T>& of) { return *std::max_element(of.begin(), of.end()); }
}
`;
}

function source(file: number, revisions: ReadonlyMap<number, number>): string {
  const library = Math.floor(file / perLibrary);
  const revision = revisions.get(file) ?? 0;
  return `#include "library${library}.h"
int part${file}(int n) {
  std::map<std::string, std::vector<int>> by;
  for (int i = 0; i < n; i++) by["k" + std::to_string(i % 7)].push_back(i * ${file + 1} + ${revision});
  int sum = library${library}::revision;
  for (const auto& [name, values] : by) sum += library${library}::most(values) + (int)name.size();
  return sum;
}
`;
}

function mainSource(files: number): string {
  const numbers = Array.from({ length: files }, (_, file) => file);
  return `#include <cstdio>
${numbers.map((file) => `int part${file}(int);`).join("\n")}
int main() {
  int sum = 0;
${numbers.map((file) => `  sum += part${file}(20);`).join("\n")}
  std::printf("%d\\n", sum);
}
`;
}

const makefile = `CXX ?= g++
SOURCES := $(wildcard src/*.cc)
OBJECTS := $(SOURCES:src/%.cc=build/%.o)
build/app: $(OBJECTS)
\tg++ -o $@ $(OBJECTS)
build/%.o: src/%.cc
\t@mkdir -p build
\t$(CXX) -std=c++17 -O1 $(CXXFLAGS) -Iinclude -c $< -o $@
`;
