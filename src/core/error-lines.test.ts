import { expect, test } from "vitest";
import { findErrorLines } from "./error-lines.ts";

/** In each log, the lines that must be found begin with `>`. */
const logs: Readonly<Record<string, string>> = {
  gcc: `
 cc -c main.c
 main.c: In function 'main':
>main.c:4:10: error: 'x' undeclared (first use in this function)
     4 |   return x;
 make: *** [Makefile:2: main.o] Error 1`,
  "gcc, missing header": `
>main.c:1:10: fatal error: zlib.h: No such file or directory
     1 | #include <zlib.h>
 compilation terminated.
 make[1]: *** [Makefile:2: main.o] Error 1
 make: *** [Makefile:9: all] Error 2`,
  "linker below ninja": `
 [3/4] Linking CXX executable app
 FAILED: app
 : && /usr/bin/c++ main.o -o app && :
>main.cc:(.text+0x5): undefined reference to \`work()'
 collect2: error: ld returned 1 exit status
 ninja: build stopped: subcommand failed.`,
  msvc: `
>main.cpp(12): error C2065: 'x': undeclared identifier
 NMAKE : fatal error U1077: 'cl' : return code '0x2'`,
  rustc: `
    Compiling app v0.1.0 (/src/app)
>error[E0308]: mismatched types
   --> src/main.rs:2:18
 error: aborting due to 1 previous error
 error: could not compile \`app\` (bin "app") due to 1 previous error`,
  "cargo test": `
 running 2 tests
 test tests::adds ... ok
 test tests::divides ... FAILED
 ---- tests::divides stdout ----
>thread 'tests::divides' panicked at src/lib.rs:9:5:
 assertion \`left == right\` failed
 test result: FAILED. 1 passed; 1 failed; 0 ignored
 error: test failed, to rerun pass \`--lib\``,
  "go build": `
 # example.com/app
>./main.go:6:2: undefined: fmtt
>./main.go:9:2: declared and not used: y`,
  "go test": `
 === RUN   TestAdd
>--- FAIL: TestAdd (0.00s)
 FAIL
 exit status 1
 FAIL	example.com/app	0.003s`,
  "go panic": `
>panic: runtime error: index out of range [5] with length 3
 goroutine 1 [running]:
 main.main()
 exit status 2`,
  pytest: `
 ___________ test_add ___________
     def test_add():
>E       assert 3 == 4
 test_add.py:3: AssertionError
 FAILED test_add.py::test_add - assert 3 == 4
 1 failed, 2 passed in 0.03s`,
  python: `
 Traceback (most recent call last):
   File "run.py", line 3, in <module>
     main()
>ValueError: invalid literal for int() with base 10: 'x'`,
  "node, exception": `
 /src/index.js:3
 throw new TypeError("x");
 ^
>TypeError: Cannot read properties of undefined (reading 'y')
     at Object.<anonymous> (/src/index.js:3:7)
 Node.js v20.19.0`,
  tsc: `
>src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.
 npm error Lifecycle script \`build\` failed with error:
 npm error code 2`,
  "tsc with colours": `
>\u001b[96msrc/a.ts\u001b[0m:\u001b[93m3\u001b[0m:\u001b[93m7\u001b[0m - \u001b[91merror\u001b[0m TS2322: Type 'string'
 Found 1 error in src/a.ts:3`,
  eslint: `
 /src/a.js
   1:7  warning  'y' is unused  no-unused-vars
>  3:7  error  'x' is not defined  no-undef
 ✖ 2 problems (1 error, 1 warning)`,
  vitest: `
  FAIL  src/add.test.ts > adds
>AssertionError: expected 3 to be 4
  ❯ src/add.test.ts:4:20
  Test Files  1 failed (1)`,
  jest: `
>FAIL src/add.test.js
   ● adds
     Expected: 4
     Received: 3
 Tests:       1 failed, 1 total`,
  "javac below maven": `
 [INFO] Compiling 3 source files
>[ERROR] /src/App.java:[5,9] cannot find symbol
 [INFO] BUILD FAILURE
 [ERROR] Failed to execute goal compiler:compile`,
  junit: `
 [ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0
>java.lang.AssertionError: expected:<3> but was:<4>
 	at org.junit.Assert.fail(Assert.java:89)
 [INFO] BUILD FAILURE`,
  "java exception": `
>Exception in thread "main" java.lang.IllegalStateException: closed
 	at App.main(App.java:5)`,
  gradle: `
>AppTest > adds FAILED
     Expected 4
 FAILURE: Build failed with an exception.
 BUILD FAILED in 3s`,
  bazel: `
 Loading:
>ERROR: /src/BUILD:3:10: Compiling main.cc failed: (Exit 1): gcc failed
 Target //:main failed to build
 FAILED: Build did NOT complete successfully`,
  gtest: `
 [ RUN      ] Add.Works
>add_test.cc:5: Failure
 Expected equality of these values:
 [  FAILED  ] Add.Works (0 ms)`,
  ctest: `
 1/2 Test #1: add ......   Passed    0.01 sec
>2/2 Test #2: sub ......***Failed    0.01 sec
 50% tests passed, 1 tests failed out of 2`,
  cmake: `
 -- Configuring
>CMake Error at CMakeLists.txt:4 (find_package):
   Could not find a package
 -- Configuring incomplete, errors occurred!`,
  sanitizer: `
 =================================================================
>==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x602
 SUMMARY: AddressSanitizer: heap-use-after-free main.c:5`,
  "make without a rule": `
>make: *** No rule to make target 'foo.c', needed by 'foo.o'.  Stop.`,
  "make alone": `
 ./gen > out
>make: *** [Makefile:3: out] Error 3`,
  "npm ci": `
>npm error code EUSAGE
>npm error
>npm error \`npm ci\` can only install packages with an existing package-lock.json`,
  shell: `
 $ error-prone --fatal
>/bin/sh: 1: frobnicate: not found`,
  "exit status": `
 working
 Process completed with exit code 0
>Process completed with exit code 3`,
  tap: `
 TAP version 13
 ok 1 - adds
>not ok 2 - divides
 # fail 1`,
  ocaml: `
 File "main.ml", line 1, characters 8-9:
 1 | let _ = x
             ^
>Error: Unbound value x`,
  crash: `
 start
>Segmentation fault (core dumped)
 make: *** [Makefile:5: test] Error 139`,
  success: `
 Compiling 12 files: 0 errors, 0 warnings
 Tests: 8 passed, no failures`,
};

test.each(Object.entries(logs))("finds the error of %s", (_, marked) => {
  const lines = marked.split("\n").slice(1);
  const found = findErrorLines(lines.map((line) => line.slice(1)));
  expect(found.map((index) => lines[index])).toEqual(lines.filter((line) => line.startsWith(">")));
});

test("a hostile line takes no long time", () => {
  const lines = ["a.".repeat(50_000), `${"a:1".repeat(30_000)}`, " ".repeat(100_000)];
  const startedAt = performance.now();
  findErrorLines(lines);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
