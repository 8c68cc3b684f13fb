/** The data in a call itself (REv2's RequestMetadata), together with the server's facts about the call. */
export interface Asking {
  readonly project: string;
  readonly principal: string;
  /** The invocation's id, which the tool chose; "" when the call names none. */
  readonly invocation: string;
  readonly correlatedId: string;
  readonly toolName: string;
  readonly toolVersion: string;
  readonly targetId: string;
  readonly actionMnemonic: string;
  readonly configurationId: string;
}

/** The tool chooses an invocation's id, so the id is only unique within a project. */
export function invocationKey({
  project,
  invocation,
}: Pick<Asking, "project" | "invocation">): string {
  // Names of projects contain no space.
  return `${project} ${invocation}`;
}
