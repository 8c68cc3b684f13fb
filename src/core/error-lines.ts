import { anySequence } from "./escape-sequences.ts";

/** A longer line is data, not a message: only this many characters of it are looked at. */
const longestLine = 1_000;

/** Says that nothing failed, in spite of its words. */
const noError =
  /\b(?:0|no) (?:errors?|failures?|failed)\b|\b(?:errors?|failures?|failed)\s*[:=]\s*0\b/i;

/** Jobs print each of their commands behind this, and a command may contain the words. */
const command = /^\$ /;

/**
 * What lines say about an error, from the cause to the consequence.
 *
 * A log usually contains several of these: the compiler's message is more useful than the `make` line that follows it.
 * So the lines of the first kind that occurs are the error.
 */
const kinds: readonly (readonly RegExp[])[] = [
  // The message of a tool that names a place or a kind of error.
  [
    // GCC, Clang, Go vet, javac, Swift, ghc: `file:line[:column]: error: …`
    /^[^\s:][^:]*:\d+(?::\d+)?(?:-\d+)?:\s*(?:fatal )?error\b/i,
    // MSVC, TypeScript: `file(line,column): error C2065`
    /^[^\s(][^(]*\(\d+(?:,\d+)?\)\s*:\s*(?:fatal )?error\b/i,
    // TypeScript with colours: `file:line:column - error TS2322`
    /:\d+:\d+ - error\b/,
    // rustc
    /^error\[E\d+\]/,
    // Go's compiler: `./file.go:3:5: undefined: x`
    /^\S+\.go:\d+:\d+: /,
    // Linkers
    /\bundefined (?:reference to|symbol)\b|\bld(?:\.\w+)?: (?:cannot find|error)\b/,
    // Maven, ESLint, OCaml
    /^\[ERROR\] \S+\.(?:java|kt|scala):/,
    /^\s+\d+:\d+\s+error\s/,
    /^Error(?: \([^)]*\))?: (?:Unbound|This expression|Syntax error|Signature mismatch)/,
    // Bazel
    /^ERROR: \S+:\d+:\d+: /,
    // CMake
    /^CMake Error\b/,
    // Sanitizers, and the kernel
    /^==\d+==\s*ERROR: |\bruntime error: /,
    /\bOut of memory: Killed process\b/,
    // make's own syntax, and a missing rule
    /^make(?:\[\d+\])?: \*\*\* No rule to make target|^[^\s:]+:\d+: \*\*\* /,
    // Shells
    /^(?:\S*\/)?(?:ba|da|z)?sh: (?:line )?(?:\d+: )?.*(?:not found|Permission denied|No such file)/,
  ],
  // An assertion, an exception or a panic: the message itself.
  [
    // pytest
    /^E\s{2,}\S/,
    // Rust, Go
    /\bpanicked at\b|^panic: |^fatal error: /,
    // Python, JavaScript, Java: `SomeError: message`
    /^\s*(?:Uncaught |Caused by: |Exception in thread "[^"]*" )?(?:[a-zA-Z_$][\w$]*\.)*[A-Z]\w*(?:Error|Exception)(?: \[[^\]]*\])?(?::|$)/,
    // C, GoogleTest
    /\bAssertion [`'].*' failed\b|^\S+:\d+: Failure$/,
    // OCaml, Ruby, PHP, Perl
    /^Fatal error: |^PHP Fatal error|\S+\.rb:\d+:in /,
    // Signals
    /\b(?:Segmentation fault|Bus error|Aborted) \(core dumped\)/,
  ],
  // The name of a test that failed.
  [
    /^\s*--- FAIL: /,
    /^FAILED \S+::/,
    /^\[  FAILED  \] \S/,
    /^test \S+ \.\.\. FAILED/,
    /^not ok \d+/,
    /^\s*(?:FAIL|✗|✕|×|✖) +\S/,
    /^\[ERROR\]\s+\S+(?:\.\S+:\d+| .*<<< (?:FAILURE|ERROR)!)/,
    /^\S+ > \S.* FAILED$/,
    /^\s*\d+\/\d+ Test\s+#\d+: .*\*\*\*(?:Failed|Timeout|Exception)/,
  ],
  // Any other line that begins with the word.
  [
    /^\s*(?:\S+: )?(?:fatal|error)(?: \w+)?:\s*(?!could not compile|failed to push|script ")\S/i,
    /^\[ERROR\]/,
    /^ERROR\b/,
  ],
  // What the caller of the failed program says.
  [
    /^make(?:\[\d+\])?: \*\*\* /,
    /^ninja: build stopped/,
    /^npm (?:ERR!|error)/,
    /^error: could not compile|^error: script "/,
    /^FAILED: /,
    /\bBUILD FAIL(?:ED|URE)\b/,
    /\b(?:exit(?:ed with)?|exit) (?:code|status):? [1-9]\d*\b/i,
    /\btimed? ?out\b|\bKilled\b/i,
  ],
  // Words that may mean an error.
  [
    /\b(?:error|fatal|panic|exception|traceback|assertion|failed|failure|not found|killed|denied)\b/i,
  ],
];

/**
 * Finds the lines of the error in the end of a log that compilers, test runners, build tools or shells printed.
 *
 * @returns the indexes of the lines, in order; empty when no line looks like an error. All are of one kind: where a
 * compiler reports an error, the lines of `make` that follow from it are not among them.
 */
export function findErrorLines(lines: readonly string[]): number[] {
  let best = kinds.length;
  let found: number[] = [];
  for (const [index, line] of lines.entries()) {
    const kind = kindOf(line, best);
    if (kind === undefined) continue;
    if (kind < best) found = [];
    best = kind;
    found.push(index);
  }
  return found;
}

/** Returns which kind a line is, if it is not behind the limit. */
function kindOf(line: string, limit: number): number | undefined {
  const text = line.slice(0, longestLine).replace(anySequence, "").replace(/\r$/, "");
  if (command.test(text) || noError.test(text)) return undefined;
  const kind = kinds.findIndex((patterns) => patterns.some((pattern) => pattern.test(text)));
  return kind === -1 || kind > limit ? undefined : kind;
}
