/**
 * Matches names of values that are usually secret.
 *
 * The short words count only as whole words of a name: `DB_PASS`, not `--bypass`.
 */
const secretName =
  /token|secret|passw|passphrase|credential|private|api_?-?key|access_?-?key|auth(?!or)|cookie|session|signature|(^|[^a-z])(pass|pat|jwt|dsn|otp)([^a-z]|$)|[^a-z](key|pwd)$/i;

/** Replaces a value that is not shown. */
export const hidden = "[hidden]";

/** Flags that Bazel's client adds about itself and its machine, including its whole environment. */
const clientsOwn =
  /^--(client_env|client_cwd|default_override|ignore_client_env|rc_source|isatty|terminal_columns|emacs|startup_time|extract_data_time|restart_reason|binary_path|option_sources)\b/;

/** Returns options that may be shown to every reader: without the client's own options and without secrets. */
export function showableOptions(options: readonly string[]): string[] {
  const shown: string[] = [];
  let hideNext = false;
  for (const option of options) {
    if (hideNext && !option.startsWith("-")) shown.push(hidden);
    else if (!clientsOwn.test(option)) shown.push(showableOption(option));
    hideNext = asksToHideNext(option);
  }
  return shown;
}

/** Returns whether the value of this flag is secret and is the next word. */
function asksToHideNext(option: string): boolean {
  return /^-[^=]*$/.test(option) && (isHeaderFlag(option) || secretName.test(option));
}

/**
 * Hides the value of `--flag=value` or `--flag=NAME=value` when the flag or the name looks like a secret.
 *
 * Flags may be labels: `--//app:token=value`. A word without a flag may be the value of the flag before it.
 */
function showableOption(option: string): string {
  const [, flag = "", value = ""] = /^(-[^=]*)=(.*)$/s.exec(option) ?? ["", "", option];
  const [, name = "", inner = ""] = /^([^=]*)=(.*)$/s.exec(value) ?? [];
  const before = flag === "" ? "" : `${flag}=`;
  if (isHeaderFlag(flag)) return name === "" ? `${flag}=${hidden}` : `${flag}=${name}=${hidden}`;
  if (name !== "" && inner !== "" && secretName.test(name)) return `${before}${name}=${hidden}`;
  if (name === "" && secretName.test(flag) && !/^(true|false|0|1)?$/.test(value))
    return `${flag}=${hidden}`;
  return withoutPasswords(option);
}

/** `--remote_header`, `--bes_header` and the like. They usually contain tokens. */
function isHeaderFlag(option: string): boolean {
  return /^--\w*header(=|$)/.test(option);
}

/** Returns a named value in the form that may be shown. */
export function showableValue(name: string, value: string): string {
  return secretName.test(name) && value !== "" ? hidden : withoutPasswords(value);
}

/** Returns the text without user and password in its URLs. */
export function withoutPasswords(text: string): string {
  return text.replace(/([a-z][a-z0-9+.-]{0,20}:\/\/)[^/@\s"']{1,1000}@/gi, "$1");
}

/** Returns environment variables, or other named values, that may be shown to every reader. */
export function showableVariables(
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, showableValue(name, value)]),
  );
}

/** Returns the words of a command in the form that may be shown: like `showableOptions`, but none is left out. */
export function showableArguments(words: readonly string[]): string[] {
  return words.map((word, index) => {
    const before = index === 0 ? "" : (words[index - 1] ?? "");
    return asksToHideNext(before) && !word.startsWith("-") ? hidden : showableOption(word);
  });
}

/**
 * Returns a definition of a job or a suite, a part or a patch of one, that may be shown to every reader: without the
 * values of variables under `environment` or `env` whose names look like secrets.
 *
 * @param path where the value is in the definition
 */
export function showableDefinition<Value>(value: Value, path: readonly string[] = []): Value {
  if (Array.isArray(value)) return value.map((part) => showableDefinition(part, path)) as Value;
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [
        name,
        showableDefinition(part, [...path, name]),
      ]),
    ) as Value;
  const name = path.at(-1) ?? "";
  if (value === null || value === undefined || !environmentKeys.has(path.at(-2) ?? ""))
    return value;
  const shown = showableValue(name, String(value));
  return shown === String(value) ? value : (shown as Value);
}

const environmentKeys: ReadonlySet<string> = new Set(["environment", "env"]);
