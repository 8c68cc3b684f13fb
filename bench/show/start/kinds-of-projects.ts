/** A typical project of a build tool. */
export interface KindOfProject {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** Jobs that must be among the written ones: a graph of other jobs would prove nothing. */
  readonly jobs: readonly string[];
  /** Commands that create its lock file, if its users have one. */
  readonly prepare?: readonly string[];
}

const junit = dependency("junit", "junit", "4.13.2", "test");

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;

/** Two packages that import each other and a package of the registry; the first is used in its built form. */
function nodeWorkspace(
  more: Readonly<Record<string, unknown>>,
  version: string,
): Record<string, string> {
  return {
    ".gitignore": "node_modules\ndist\n",
    "package.json": json({
      name: "workspace",
      private: true,
      type: "module",
      scripts: {
        lint: "node --check packages/tool/tool.test.js",
        build: "mkdir -p packages/text/dist && cp packages/text/src/*.js packages/text/dist/",
        test: "node --test packages/tool/*.test.js",
      },
      ...more,
    }),
    "packages/text/package.json": json({
      name: "@example/text",
      version: "1.0.0",
      type: "module",
      main: "dist/text.js",
      dependencies: { ms: "2.1.3" },
    }),
    "packages/text/src/text.js": 'import ms from "ms";\nexport const day = () => ms("1d");\n',
    "packages/tool/package.json": json({
      name: "@example/tool",
      version: "1.0.0",
      type: "module",
      dependencies: { "@example/text": version },
    }),
    "packages/tool/tool.test.js":
      'import { test } from "node:test";\nimport assert from "node:assert";\nimport { day } from "@example/text";\n' +
      "test('a day', () => assert.equal(day(), 86_400_000));\n",
  };
}

export const kindsOfProjects: readonly KindOfProject[] = [
  {
    name: "npm workspace",
    jobs: ["install", "lint", "test", "build"],
    files: nodeWorkspace({ workspaces: ["packages/*"] }, "1.0.0"),
    prepare: ["npm install --package-lock-only --no-audit --no-fund"],
  },
  {
    name: "pnpm workspace",
    jobs: ["install", "lint", "test", "build"],
    files: {
      ...nodeWorkspace({}, "workspace:*"),
      "pnpm-workspace.yaml": "packages:\n  - packages/*\n",
    },
    prepare: ["npx -y pnpm@10 install --lockfile-only"],
  },
  {
    name: "Yarn workspace",
    jobs: ["install", "lint", "test", "build"],
    files: nodeWorkspace(
      { workspaces: ["packages/*"], packageManager: "yarn@4.9.2" },
      "workspace:*",
    ),
    prepare: ["touch yarn.lock", "npx -y @yarnpkg/cli-dist@4.9.2 install --mode=update-lockfile"],
  },
  {
    name: "Cargo workspace",
    jobs: ["cargo/fetch", "cargo/test"],
    files: {
      ".gitignore": "target\n",
      "Cargo.toml": '[workspace]\nresolver = "2"\nmembers = ["crates/*"]\n',
      "crates/text/Cargo.toml":
        '[package]\nname = "text"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nitoa = "1"\n',
      "crates/text/src/lib.rs":
        "pub fn text(n: u32) -> String { itoa::Buffer::new().format(n).to_string() }\n",
      "crates/tool/Cargo.toml":
        '[package]\nname = "tool"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\ntext = { path = "../text" }\n',
      "crates/tool/src/main.rs":
        'fn main() { println!("{}", text::text(7)); }\n\n#[test]\nfn seven() { assert_eq!(text::text(7), "7"); }\n',
    },
    prepare: ["cargo generate-lockfile"],
  },
  {
    name: "Go module",
    jobs: ["go/modules", "go/test"],
    files: {
      "go.mod": "module example.org/tool\n\ngo 1.21\n",
      "text/text.go":
        'package text\n\nimport "github.com/pkg/errors"\n\nfunc Fail() error { return errors.New("failed") }\n',
      "text/text_test.go":
        'package text\n\nimport "testing"\n\nfunc TestFail(t *testing.T) {\n\tif Fail() == nil {\n\t\tt.Fatal("nil")\n\t}\n}\n',
    },
    prepare: ["go mod tidy"],
  },
  {
    name: "CMake",
    jobs: ["cmake"],
    files: {
      "CMakeLists.txt":
        "cmake_minimum_required(VERSION 3.16)\nproject(tool C)\nadd_library(text src/text.c)\ntarget_include_directories(text PUBLIC include)\n" +
        "include(CTest)\nadd_executable(text-test test/text-test.c)\ntarget_link_libraries(text-test text)\nadd_test(NAME text COMMAND text-test)\n",
      "include/text.h": "int twice(int n);\n",
      "src/text.c": '#include "text.h"\nint twice(int n) { return 2 * n; }\n',
      "test/text-test.c": '#include "text.h"\nint main(void) { return twice(2) == 4 ? 0 : 1; }\n',
    },
  },
  {
    name: "Make",
    jobs: ["make"],
    files: {
      Makefile:
        "CC ?= cc\nOBJECTS = src/text.o\n\nall: tool\n\ntool: src/main.o $(OBJECTS)\n\t$(CC) -o $@ $^\n\n%.o: %.c\n\t$(CC) -c -o $@ $<\n\n" +
        ".PHONY: all test clean\ntest: tool\n\t./tool | grep -qx 4\n\nclean:\n\trm -f tool src/*.o\n",
      "src/text.c": "int twice(int n) { return 2 * n; }\n",
      "src/main.c":
        '#include <stdio.h>\nint twice(int n);\nint main(void) { printf("%d\\n", twice(2)); return 0; }\n',
    },
  },
  {
    name: "Maven modules",
    jobs: ["maven/test"],
    files: {
      "pom.xml": mavenParent(["text", "tool"]),
      "text/pom.xml": mavenModule("text", junit),
      "text/src/main/java/org/example/Text.java":
        "package org.example;\n\npublic class Text {\n  public static int twice(int n) { return 2 * n; }\n}\n",
      "text/src/test/java/org/example/TextTest.java":
        "package org.example;\n\nimport static org.junit.Assert.assertEquals;\nimport org.junit.Test;\n\npublic class TextTest {\n  @Test public void twice() { assertEquals(4, Text.twice(2)); }\n}\n",
      "tool/pom.xml": mavenModule("tool", dependency("org.example", "text", "1.0")),
      "tool/src/main/java/org/example/Tool.java":
        "package org.example;\n\npublic class Tool {\n  public static void main(String[] args) { System.out.println(Text.twice(2)); }\n}\n",
    },
  },
  {
    name: "Python package",
    jobs: ["python/test"],
    files: {
      "pyproject.toml":
        '[build-system]\nrequires = ["setuptools>=64"]\nbuild-backend = "setuptools.build_meta"\n\n[project]\nname = "tool"\nversion = "1.0"\n' +
        'dependencies = ["packaging"]\n\n[project.optional-dependencies]\ntest = ["pytest"]\n',
      "src/tool/__init__.py":
        "from packaging.version import Version\n\ndef newer(a, b):\n    return Version(a) > Version(b)\n",
      "tests/test_tool.py":
        'from tool import newer\n\ndef test_newer():\n    assert newer("1.10", "1.9")\n',
    },
  },
  {
    name: "workflow of GitHub alone",
    jobs: ["ci/script-one", "ci/script-two", "ci/python"],
    files: {
      ".github/workflows/ci.yml":
        "name: CI\non: [push, pull_request]\nenv:\n  LEVEL: 2\njobs:\n  script:\n    runs-on: ${{ matrix.os }}\n    strategy:\n      matrix:\n        os: [ubuntu-latest, windows-latest]\n        part: [one, two]\n" +
        "    steps:\n      - uses: actions/checkout@v4\n      - name: Check\n        run: |\n          if [[ -z $LEVEL ]]; then exit 1; fi\n          ./check.sh ${{ matrix.part }}\n" +
        "  python:\n    needs: script\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - uses: actions/setup-python@v5\n        with: { python-version: '3.12' }\n" +
        "      - run: pip install packaging\n      - run: python -c 'import packaging'\n      - uses: codecov/codecov-action@v4\n  publish:\n    if: github.ref == 'refs/heads/main'\n    runs-on: ubuntu-latest\n    steps:\n      - run: ./publish.sh\n        env: { TOKEN: '${{ secrets.TOKEN }}' }\n",
      "check.sh": '#!/bin/sh\ntest "$1" = one || test "$1" = two\n',
    },
    prepare: ["chmod +x check.sh"],
  },
];

function dependency(group: string, artifact: string, version: string, scope?: string): string {
  const scoped = scope === undefined ? "" : `<scope>${scope}</scope>`;
  return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>${scoped}</dependency>`;
}

function mavenParent(modules: readonly string[]): string {
  return (
    '<project xmlns="http://maven.apache.org/POM/4.0.0">\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>org.example</groupId>\n' +
    "  <artifactId>parent</artifactId>\n  <version>1.0</version>\n  <packaging>pom</packaging>\n" +
    "  <properties><maven.compiler.release>11</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>\n" +
    "  <build><pluginManagement><plugins><plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin></plugins></pluginManagement></build>\n" +
    `  <modules>${modules.map((module) => `<module>${module}</module>`).join("")}</modules>\n</project>\n`
  );
}

function mavenModule(name: string, dependencies: string): string {
  return (
    '<project xmlns="http://maven.apache.org/POM/4.0.0">\n  <modelVersion>4.0.0</modelVersion>\n' +
    "  <parent><groupId>org.example</groupId><artifactId>parent</artifactId><version>1.0</version></parent>\n" +
    `  <artifactId>${name}</artifactId>\n  <dependencies>${dependencies}</dependencies>\n</project>\n`
  );
}
