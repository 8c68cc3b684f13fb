/** A job of the definitions that `grange init` writes. Paths are relative to the project's directory. */
export interface StarterJob {
  readonly name: string;
  /** Explains the job to readers of the definitions. */
  readonly comment?: string;
  readonly commands: readonly string[];
  /** Patterns of the files that the job reads; absent: all files of the commit. */
  readonly inputs?: readonly string[];
  readonly outputs?: readonly string[];
  readonly needs?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly network?: boolean;
  /** For example `30m`. */
  readonly timeout?: string;
  readonly workingDirectory?: string;
  /** An expression of JSON-e. */
  readonly when?: string;
  /** Exit codes that count as success; absent: only 0. */
  readonly exitCodes?: readonly number[];
  readonly sources?: readonly Submodule[];
  /** The container image in which the commands run; absent: the worker's machine. */
  readonly image?: string;
  readonly services?: Readonly<Record<string, StarterService>>;
}

/** A program in a container image beside a job. */
export interface StarterService {
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Succeeds when the service is ready; absent: when it listens on its first port. */
  readonly readyCommand?: string;
}

/** Another repository at a directory of this one, at a fixed commit. */
export interface Submodule {
  readonly path: string;
  readonly url: string;
  readonly commit: string;
}

/** A program that the generated jobs call. */
export interface NeededTool {
  readonly program: string;
  /** The Debian package that contains it. */
  readonly package: string;
}
