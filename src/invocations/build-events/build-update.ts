import type { Digest } from "#core/digest.ts";

/** A file that a tool names. */
export interface NamedFile {
  readonly name: string;
  readonly uri: string;
}

/** The stored content of an event. Texts are bounded and valid for the database. */
export type BuildUpdate =
  | {
      readonly kind: "started";
      readonly command: string;
      readonly toolVersion: string;
      readonly patterns: readonly string[];
      readonly startedAt: Date | undefined;
    }
  | { readonly kind: "options"; readonly options: readonly string[] }
  | { readonly kind: "keywords"; readonly keywords: readonly string[] }
  | { readonly kind: "metadata"; readonly pairs: Readonly<Record<string, string>> }
  | { readonly kind: "workspaceStatus"; readonly pairs: Readonly<Record<string, string>> }
  | { readonly kind: "printed"; readonly bytes: Uint8Array }
  | TargetUpdate
  | FileSetUpdate
  | TestUpdate
  /** Only the first failure is stored, because others follow from it. */
  | { readonly kind: "failure"; readonly sentence: string }
  | {
      readonly kind: "finished";
      readonly exitCode: number;
      readonly exitName: string;
      readonly finishedAt: Date | undefined;
      readonly failure: string;
    }
  /** From the frame around the events, by the names of google.devtools.build. */
  | { readonly kind: "result"; readonly result: string }
  | { readonly kind: "metrics"; readonly metrics: Readonly<Record<string, number>> }
  | { readonly kind: "profile"; readonly file: NamedFile }
  /** Content inside an event, which the tool names by its digest. */
  | { readonly kind: "blob"; readonly digest: Digest; readonly bytes: Uint8Array }
  /** The event could not be read. */
  | { readonly kind: "unreadable" }
  | { readonly kind: "complete" };

export interface TargetUpdate {
  readonly kind: "target";
  readonly label: string;
  readonly aspect: string;
  readonly targetKind?: string;
  readonly success?: boolean;
  readonly aborted?: string;
  readonly testStatus?: string;
  readonly durationMs?: number;
  /** Sets of files that were sent before. */
  readonly sets?: readonly string[];
  readonly files?: readonly NamedFile[];
}

export interface FileSetUpdate {
  readonly kind: "fileSet";
  readonly id: string;
  readonly files: readonly NamedFile[];
  readonly sets: readonly string[];
}

export interface TestUpdate {
  readonly kind: "test";
  readonly label: string;
  readonly configuration: string;
  readonly run: number;
  readonly shard: number;
  readonly attempt: number;
  readonly status: string;
  readonly startedAt: Date | undefined;
  readonly durationMs: number;
  readonly cached: boolean;
  readonly files: readonly NamedFile[];
}
