import { readableShellWord, shellWord } from "#core/shell-word.ts";

/** The commands of a step's script in a job. */
type StepCommands =
  | {
      readonly kind: "commands";
      readonly commands: readonly string[];
      readonly notes: readonly string[];
    }
  | { readonly kind: "impossible"; readonly reason: string };

interface StepScript {
  readonly text: string;
  /** As named in the workflow; absent: GitHub's default, bash. */
  readonly shell?: string | undefined;
  readonly workingDirectory?: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the job continues when the script fails. */
  readonly mayFail: boolean;
}

/** Returns the commands that replace a `run` step, in a job without root's rights, containers or Git's history. */
export function stepCommands({
  text,
  shell,
  workingDirectory,
  environment,
  mayFail,
}: StepScript): StepCommands {
  const { lines, notes } = withoutInstallations(text);
  const script = lines.join("\n").trim();
  if (script === "") return { kind: "commands", commands: [], notes };
  const reason = whyImpossible(script, shell);
  if (reason !== undefined) return { kind: "impossible", reason };
  const variables = Object.entries(environment).map(
    ([name, value]) => `${name}=${readableShellWord(value)}`,
  );
  const isPlain =
    shell === undefined && variables.length === 0 && !mayFail && lines.every(isPlainLine);
  const directory =
    workingDirectory === undefined || workingDirectory === "." ? undefined : workingDirectory;
  if (isPlain && directory === undefined) {
    return {
      kind: "commands",
      commands: script
        .split("\n")
        .filter(hasCommand)
        .map((line) => line.trim()),
      notes,
    };
  }
  const program =
    shell === "python"
      ? "python3 -c"
      : shell?.startsWith("sh") === true
        ? "sh -e -c"
        : bashOf(shell);
  const prefix = variables.length === 0 ? "" : `env ${variables.join(" ")} `;
  const wrapped =
    isPlain && !script.includes("\n") ? script : `${prefix}${program} ${shellWord(script)}`;
  const placed =
    directory === undefined ? wrapped : `(cd ${readableShellWord(directory)} && ${wrapped})`;
  return {
    kind: "commands",
    commands: [mayFail ? `${placed} || echo "This step failed; the workflow goes on."` : placed],
    notes,
  };
}

function bashOf(shell: string | undefined): string {
  return shell === undefined ? "bash -e -c" : "bash -e -o pipefail -c";
}

const shells = /^(bash|sh)( .*)?$|^python$/;

function whyImpossible(script: string, shell: string | undefined): string | undefined {
  if (shell !== undefined && !shells.test(shell)) return `its shell is ${shell}`;
  if (/(^|[\s;&|(])sudo\s/.test(script)) return "it uses sudo; jobs are not root";
  if (/(^|[\s;&|(])(docker|docker-compose|podman)\s/.test(script)) return "it runs containers";
  if (/GITHUB_(ENV|PATH)\b/.test(script))
    return "it hands variables to later steps by a file ($GITHUB_ENV, $GITHUB_PATH)";
  if (/\bgit (describe|log|fetch|tag|push|rev-list|merge-base|pull|submodule)\b/.test(script))
    return "it needs the history of Git; a job gets the files alone";
  return undefined;
}

/** Lines that change nothing in the shell that later commands share, and that every shell reads in the same way. */
function isPlainLine(line: string): boolean {
  const text = line.trim();
  if (!hasCommand(text)) return true;
  if (
    /^(cd|pushd|popd|export|set|source|\.|unset|alias|if|for|while|case|function|exit|eval|exec|trap|local|declare|shopt|ulimit|then|else|fi|do|done|esac|\})\b/.test(
      text,
    )
  )
    return false;
  if (/^[A-Za-z_]\w*=/.test(text) || text.endsWith("\\") || text.startsWith("}")) return false;
  return (
    !/\[\[|<<|<\(|\$'|\{[^}]*[,.][^}]*\}|[{(]$|\|$|&&$/.test(text) &&
    hasEvenQuotes(text) &&
    !text.includes("|")
  );
}

function hasCommand(line: string): boolean {
  return line.trim() !== "" && !line.trim().startsWith("#");
}

function hasEvenQuotes(text: string): boolean {
  const count = (quote: string) => text.split(quote).length - 1;
  return count("'") % 2 === 0 && count('"') % 2 === 0;
}

/**
 * Leaves out commands that install programs for the whole machine: a job cannot do that, and its worker may already
 * have them.
 */
function withoutInstallations(text: string): { lines: string[]; notes: string[] } {
  const joined = text.replace(/\\\n\s*/g, " ").split("\n");
  const notes: string[] = [];
  const changed = joined.flatMap((line) => {
    const apt =
      /^\s*(?:sudo\s+)?(?:[A-Z_]+=\S+\s+)*apt(?:-get)?\s+(?:-\S+\s+)*(update|upgrade|install)\b(.*)$/.exec(
        line,
      );
    if (apt !== null) {
      const rest =
        /&&\s*(?:sudo\s+)?apt(?:-get)?\s+.*?install\b(.*)$/.exec(line)?.[1] ??
        (apt[1] === "install" ? apt[2] : "");
      const packages = (rest ?? "")
        .split(/\s+/)
        .filter((word) => /^[a-z0-9][a-z0-9.+:-]+$/.test(word));
      if (packages.length > 0) notes.push(`install on the workers: ${packages.join(" ")}`);
      return [];
    }
    if (/^\s*rustup\s/.test(line)) {
      notes.push(`left out: ${line.trim()} (jobs use the worker's toolchain)`);
      return [];
    }
    return [
      line.replace(
        /\bcorepack enable\b(?! --install)/,
        'corepack enable --install-directory "$GITHUB_WORKSPACE/.grange-tools/bin"',
      ),
    ];
  });
  // An unchanged script keeps its author's line breaks.
  return { lines: changed.join("\n") === joined.join("\n") ? text.split("\n") : changed, notes };
}
