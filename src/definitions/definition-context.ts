/** What expressions see beside `parameters` and `switches`. */
export interface DefinitionContext {
  readonly repository: string;
  readonly commit: {
    readonly sha: string;
    readonly subject: string;
    readonly author: string;
    readonly committedAt: Date;
  };
  /** As the submitter wrote it. */
  readonly rev: string;
  /** The branch that `rev` names; empty when it names none. */
  readonly branch: string;
}
