/** A continuous integration of a kind that is common: its jobs as GitHub Actions has them, and as Grange has them. */
export interface CiDefinition {
  readonly of: string;
  readonly original: string;
  readonly converted: string;
  readonly files: Readonly<Record<string, string>>;
}

const python = {
  "calc.py": "def add(a, b):\n    return a + b\n",
  "test_calc.py":
    "import unittest\nfrom calc import add\n\nclass Test(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
};
const c = {
  "add.c": "int add(int a, int b) { return a + b; }\n",
  "test.c": "int add(int, int);\nint main(void) { return add(1, 2) != 3; }\n",
  Makefile: "test: add.o test.o\n\t$(CC) -o test add.o test.o\ncheck: test\n\t./test\n",
};
const cmake = {
  ...c,
  "CMakeLists.txt":
    "cmake_minimum_required(VERSION 3.20)\nproject(add C)\nadd_library(add add.c)\nadd_executable(check test.c)\ntarget_link_libraries(check add)\nenable_testing()\nadd_test(NAME check COMMAND check)\n",
};
const node = {
  "sum.mjs": "export const sum = (a, b) => a + b;\n",
  "sum.test.mjs":
    'import assert from "node:assert";\nimport test from "node:test";\nimport { sum } from "./sum.mjs";\ntest("sum", () => assert.equal(sum(1, 2), 3));\n',
};
const connects =
  'import { connect } from "node:net";\nconst [host, port] = process.argv.slice(2);\nconnect(Number(port), host).on("connect", () => process.exit(0)).on("error", (reason) => { console.error(reason); process.exit(1); });\n';

const checkout = "      - uses: actions/checkout@v4";

export const ciDefinitions: readonly CiDefinition[] = [
  {
    of: "a web application with PostgreSQL",
    files: { ...node, "connects.mjs": connects },
    original: `
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    container: node:22
    services:
      db:
        image: postgres:17
        env:
          POSTGRES_PASSWORD: test
        options: --health-cmd pg_isready --health-interval 10s
    env:
      PGHOST: db
    steps:
${checkout}
      - run: node connects.mjs $PGHOST 5432
      - run: node --test sum.test.mjs
`,
    converted: `
version: 1
jobs:
  test:
    image: node:22
    services:
      db:
        image: postgres:17
        environment: { POSTGRES_PASSWORD: test }
    environment: { PGHOST: db }
    commands:
      - node connects.mjs $PGHOST 5432
      - node --test sum.test.mjs
`,
  },
  {
    of: "a Python package for several versions",
    files: python,
    original: `
on: [push]
jobs:
  test:
    strategy:
      matrix:
        python: ["3.11", "3.12"]
    runs-on: ubuntu-latest
    container: python:\${{ matrix.python }}
    steps:
${checkout}
      - run: python3 -m unittest -v
`,
    converted: `
version: 1
jobs:
  $merge:
    $map: ["3.11", "3.12"]
    each(python):
      test/\${python}:
        image: "python:\${python}"
        commands: python3 -m unittest -v
`,
  },
  {
    of: "a C library with make",
    files: c,
    original: `
on: [push]
jobs:
  build:
    runs-on: ubuntu-latest
    container: gcc:12
    steps:
${checkout}
      - run: make test
      - run: make check
`,
    converted: `
version: 1
jobs:
  build:
    image: gcc:12
    commands:
      - make test
      - make check
`,
  },
  {
    of: "a C library with CMake, debug and release",
    files: cmake,
    original: `
on: [push]
jobs:
  build:
    strategy:
      matrix:
        type: [Debug, Release]
    runs-on: ubuntu-latest
    container: gcc:12
    steps:
${checkout}
      - run: cmake -B build -DCMAKE_BUILD_TYPE=\${{ matrix.type }}
      - run: cmake --build build
      - run: ctest --test-dir build
`,
    converted: `
version: 1
jobs:
  $merge:
    $map: [Debug, Release]
    each(type):
      build/\${type}:
        image: gcc:12
        commands:
          - cmake -B build -DCMAKE_BUILD_TYPE=\${type}
          - cmake --build build
          - ctest --test-dir build
`,
  },
  {
    of: "one repository with three languages",
    files: { ...python, ...c, ...node },
    original: `
on: [push]
jobs:
  c:
    runs-on: ubuntu-latest
    container: gcc:12
    steps:
${checkout}
      - run: make check
  python:
    runs-on: ubuntu-latest
    container: python:3.12
    steps:
${checkout}
      - run: python3 -m unittest
  node:
    runs-on: ubuntu-latest
    container: node:22
    steps:
${checkout}
      - run: node --test sum.test.mjs
`,
    converted: `
version: 1
jobs:
  c:
    image: gcc:12
    inputs: ["*.c", Makefile]
    commands: make check
  python:
    image: python:3.12
    inputs: ["*.py"]
    commands: python3 -m unittest
  node:
    image: node:22
    inputs: ["*.mjs"]
    commands: node --test sum.test.mjs
`,
  },
  {
    of: "build, test and package, with artifacts",
    files: c,
    original: `
on: [push]
jobs:
  build:
    runs-on: ubuntu-latest
    container: gcc:12
    steps:
${checkout}
      - run: make test
      - uses: actions/upload-artifact@v4
        with:
          name: test
          path: test
  check:
    needs: build
    runs-on: ubuntu-latest
    container: gcc:12
    steps:
      - uses: actions/download-artifact@v4
        with:
          name: test
      - run: chmod +x test && ./test
  package:
    needs: [build, check]
    runs-on: ubuntu-latest
    container: gcc:12
    steps:
      - uses: actions/download-artifact@v4
        with:
          name: test
      - run: tar -czf package.tar.gz test
      - uses: actions/upload-artifact@v4
        with:
          name: package
          path: package.tar.gz
`,
    converted: `
version: 1
jobs:
  build:
    image: gcc:12
    commands: make test
    outputs: test
  check:
    needs: [build]
    image: gcc:12
    inputs: []
    commands: ./test
  package:
    needs: { build: {}, check: { outputs: [] } }
    image: gcc:12
    inputs: []
    commands: tar -czf package.tar.gz test
    outputs: package.tar.gz
`,
  },
  {
    of: "a client against two services",
    files: { "connects.mjs": connects },
    original: `
on: [push]
jobs:
  test:
    runs-on: ubuntu-latest
    container: node:22
    services:
      db:
        image: postgres:17
        env:
          POSTGRES_PASSWORD: test
      web:
        image: nginx:1
    steps:
${checkout}
      - run: node connects.mjs db 5432
      - run: node connects.mjs web 80
`,
    converted: `
version: 1
jobs:
  test:
    image: node:22
    services:
      db: { image: "postgres:17", environment: { POSTGRES_PASSWORD: test } }
      web: nginx:1
    commands:
      - node connects.mjs db 5432
      - node connects.mjs web 80
`,
  },
  {
    of: "lint before tests, tests in parts",
    files: { ...python, "test_more.py": python["test_calc.py"] },
    original: `
on: [push]
jobs:
  lint:
    runs-on: ubuntu-latest
    container: python:3.12
    steps:
${checkout}
      - run: python3 -m compileall -q .
  test:
    needs: lint
    strategy:
      matrix:
        part: [test_calc, test_more]
    runs-on: ubuntu-latest
    container: python:3.12
    timeout-minutes: 10
    steps:
${checkout}
      - run: python3 -m unittest \${{ matrix.part }}
`,
    converted: `
version: 1
jobs:
  lint:
    image: python:3.12
    commands: python3 -m compileall -q .
  test:
    needs: [lint]
    image: python:3.12
    timeout: 10m
    chunks: { items: [test_calc, test_more] }
    commands: python3 -m unittest $GRANGE_ITEMS
`,
  },
  {
    of: "a site that is generated and checked",
    files: {
      "site.py":
        'import pathlib\npathlib.Path("site").mkdir()\npathlib.Path("site/index.html").write_text("<h1>Title</h1>")\n',
    },
    original: `
on:
  push:
    branches: [main]
jobs:
  build:
    runs-on: ubuntu-latest
    container: python:3.12
    steps:
${checkout}
      - run: python3 site.py
      - uses: actions/upload-pages-artifact@v3
        with:
          path: site
  links:
    needs: build
    runs-on: ubuntu-latest
    steps:
      - uses: actions/download-artifact@v4
      - run: grep -q Title site/index.html
`,
    converted: `
version: 1
jobs:
  build:
    image: python:3.12
    commands: python3 site.py
    outputs: site
  links:
    needs: [build]
    image: gcc:12
    inputs: []
    commands: grep -q Title site/index.html
`,
  },
  {
    of: "a release: only after all tests, and even when one of them is flaky",
    files: { ...c, ...python },
    original: `
on: [push]
jobs:
  c:
    runs-on: ubuntu-latest
    container: gcc:12
    steps:
${checkout}
      - uses: nick-fields/retry@v3
        with:
          max_attempts: 3
          timeout_minutes: 5
          command: make check
  python:
    runs-on: ubuntu-latest
    container: python:3.12
    steps:
${checkout}
      - run: python3 -m unittest
  release:
    needs: [c, python]
    runs-on: ubuntu-latest
    container: gcc:12
    steps:
${checkout}
      - run: tar -czf release.tar.gz add.c calc.py
      - uses: actions/upload-artifact@v4
        with:
          name: release
          path: release.tar.gz
`,
    converted: `
version: 1
jobs:
  c:
    image: gcc:12
    retries: 2
    timeout: 5m
    commands: make check
  python:
    image: python:3.12
    commands: python3 -m unittest
  release:
    needs: [c, python]
    image: gcc:12
    commands: tar -czf release.tar.gz add.c calc.py
    outputs: release.tar.gz
`,
  },
];
