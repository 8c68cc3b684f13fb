/** An annotation of a line of a file in a check run. */
export interface CheckAnnotation {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly level: "notice" | "warning" | "failure";
  readonly message: string;
}

/** A complete check run of a commit: sending it again changes nothing. */
export interface CheckRun {
  readonly sha: string;
  readonly name: string;
  /** The id by which the farm finds it again, independent of its creator. */
  readonly externalId: string;
  readonly detailsUrl: string;
  readonly state:
    | { readonly kind: "queued" }
    | { readonly kind: "in_progress"; readonly startedAt: Date }
    | {
        readonly kind: "completed";
        readonly startedAt: Date;
        readonly completedAt: Date;
        readonly conclusion: "success" | "failure" | "neutral" | "cancelled" | "action_required";
      };
  readonly title: string;
  /** Markdown. */
  readonly summary: string;
  readonly annotations: readonly CheckAnnotation[];
}
