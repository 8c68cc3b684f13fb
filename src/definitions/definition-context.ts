/** The values that expressions can use besides `parameters` and `switches`. */
export interface DefinitionContext {
  readonly repository: string;
  readonly commit: {
    readonly sha: string;
    readonly subject: string;
    readonly author: string;
    readonly committedAt: Date;
  };
  /** The revision as the submitter wrote it. */
  readonly rev: string;
  /** The branch that `rev` names; empty when it names none. */
  readonly branch: string;
}
