import { readableShellWord, shellWord } from "#core/shell-word.ts";
import type { WorkflowNote } from "./workflow-notes.ts";

/** The commands of a step's script in a job. */
type StepCommands =
  | {
      readonly kind: "commands";
      readonly commands: readonly string[];
      readonly notes: readonly WorkflowNote[];
    }
  | { readonly kind: "impossible"; readonly reason: string };

interface StepScript {
  readonly text: string;
  /** As named in the workflow. */
  readonly shell?: string | undefined;
  /** The shell of steps that name none. */
  readonly usualShell: "bash" | "sh";
  readonly workingDirectory?: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the job continues when the script fails. */
  readonly mayFail: boolean;
}

/** Returns the commands that replace a `run` step, in a job without root's rights, containers or Git's history. */
export function stepCommands({
  text,
  shell,
  usualShell,
  workingDirectory,
  environment,
  mayFail,
}: StepScript): StepCommands {
  const { lines, notes } = withoutInstallations(text);
  const script = lines.join("\n").trim();
  if (script === "") return { kind: "commands", commands: [], notes };
  const reason = whyImpossible(script, shell);
  if (reason !== undefined) return { kind: "impossible", reason };
  const after = handedOn(script);
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
      commands: [
        ...script
          .split("\n")
          .filter(hasCommand)
          .map((line) => line.trim()),
        ...after,
      ],
      notes,
    };
  }
  const program =
    shell === "python"
      ? "python3 -c"
      : (shell ?? usualShell).startsWith("sh")
        ? "sh -e -c"
        : bashOf(shell);
  const prefix = variables.length === 0 ? "" : `env ${variables.join(" ")} `;
  const wrapped =
    isPlain && !script.includes("\n") ? script : `${prefix}${program} ${shellWord(script)}`;
  const placed =
    directory === undefined ? wrapped : `(cd ${readableShellWord(directory)} && ${wrapped})`;
  return {
    kind: "commands",
    commands: [
      mayFail ? `${placed} || echo "This step failed; the workflow goes on."` : placed,
      ...after,
    ],
    notes,
  };
}

/** Returns the commands that read the variables and directories that a step hands to the steps after it. */
function handedOn(script: string): string[] {
  const each = (file: string, command: string) =>
    `while IFS= read -r line || [ -n "$line" ]; do [ -z "$line" ] || ${command}; done < "$${file}"; : > "$${file}"`;
  return [
    ...(/GITHUB_ENV\b/.test(script) ? [each("GITHUB_ENV", 'export "$line"')] : []),
    ...(/GITHUB_PATH\b/.test(script) ? [each("GITHUB_PATH", 'PATH="$line:$PATH"')] : []),
  ];
}

/** Returns the names of variables that a script may hand to later steps. Their values are known only when it runs. */
export function namesHandedOn(script: string): string[] {
  if (!/GITHUB_ENV\b/.test(script)) return [];
  return [...script.matchAll(/\b([A-Za-z_]\w*)=/g)].map((match) => match[1] ?? "");
}

function bashOf(shell: string | undefined): string {
  return shell === undefined ? "bash -e -c" : "bash -e -o pipefail -c";
}

const shells = /^(bash|sh)( .*)?$|^python$/;

function whyImpossible(script: string, shell: string | undefined): string | undefined {
  if (shell !== undefined && !shells.test(shell)) return `its shell is ${shell}`;
  if (/(^|[\s;&|(])sudo\s/.test(script)) return "it uses sudo; jobs are not root";
  if (/(^|[\s;&|(])(docker|docker-compose|podman)\s/.test(script)) return "it runs containers";
  if (/GITHUB_ENV\b/.test(script) && /\w<</.test(script))
    return "it hands a variable of several lines to later steps ($GITHUB_ENV)";
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
function withoutInstallations(text: string): { lines: string[]; notes: WorkflowNote[] } {
  const joined = text.replace(/\\\n\s*/g, " ").split("\n");
  const notes: WorkflowNote[] = [];
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
      if (packages.length > 0) notes.push({ kind: "packages", names: packages });
      return [];
    }
    if (/^\s*rustup\s/.test(line)) {
      const text = `left out: ${line.trim()} (jobs use the worker's toolchain)`;
      notes.push({ kind: "text", text });
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
