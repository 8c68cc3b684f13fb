/** Variables that name the programs that compile: `ccache clang-15`, `/opt/gcc/bin/gcc -m32`. */
const naming: ReadonlySet<string> = new Set([
  "CC",
  "CXX",
  "CPP",
  "LD",
  "AR",
  "HOSTCC",
  "HOSTCXX",
  "RUSTC",
]);

const mostWords = 20;

/**
 * Returns the programs that a build's variables name as its compilers, of those variables that count for its environment.
 * Words that are no programs, such as flags' values, are not found later and count for nothing.
 */
export function compilersNamedIn(
  variables: Readonly<Record<string, string | undefined>>,
  counting: readonly string[],
): string[] {
  const words = counting
    .filter((name) => naming.has(name))
    .flatMap((name) => (variables[name] ?? "").split(/\s+/));
  return [...new Set(words.filter((word) => /^[A-Za-z0-9/._+-]+$/.test(word)))]
    .filter((word) => !word.startsWith("-"))
    .slice(0, mostWords);
}
