import { shellWord } from "#core/shell-word.ts";

/**
 * A program that comes before another of the same name in PATH, and adds one option when it runs
 * that program.
 */
export interface Shim {
  readonly program: string;
  /** The option whose value is the file: `--bazelrc`. */
  readonly option: string;
  /** The variable that names the file. Without it the program runs as if there were no shim. */
  readonly variable: string;
}

/** The variable that contains the process ID of the granary. */
export const granaryProcess = "GRANGE_GRANARY_PID";

export const shims: readonly Shim[] = [
  { program: "bazel", option: "--bazelrc", variable: "GRANGE_BAZELRC" },
  { program: "bazelisk", option: "--bazelrc", variable: "GRANGE_BAZELRC" },
  { program: "gradle", option: "--init-script", variable: "GRANGE_GRADLE_INIT" },
];

/**
 * Returns a shim as a shell script.
 *
 * It removes all shims from PATH before it runs the program, so that it does not find itself. This also keeps results
 * sharable: Bazel makes PATH a part of each action's key, and with the shim's directory in it no build would find the
 * results of others. It also checks whether the granary is alive: Bazel builds nothing when its cache does not answer.
 */
export function shimText(
  { program, option, variable }: Shim,
  directories: readonly string[],
): string {
  return `#!/bin/sh
# Runs the ${program} that is next in PATH, with the cache of a build that \`grange exec\` has started.
rest=":$PATH:"
for own in ${directories.map(shellWord).join(" ")}; do
  while :; do
    case $rest in
      *":$own:"*) rest="\${rest%%":$own:"*}:\${rest#*":$own:"}" ;;
      *) break ;;
    esac
  done
done
rest=\${rest#:}
PATH=\${rest%:}
export PATH
granary="\${${granaryProcess}:-$$}"
if [ -r "\${${variable}:-}" ] && kill -0 "$granary" 2>/dev/null; then exec ${program} "${option}=$${variable}" "$@"; fi
exec ${program} "$@"
`;
}
