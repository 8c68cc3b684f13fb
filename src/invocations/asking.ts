/** A call's own statement (REv2's RequestMetadata), with the server's facts about it. */
export interface Asking {
  readonly project: string;
  readonly principal: string;
  /** The invocation's id, of the tool's own making; "" when the call names none. */
  readonly invocation: string;
  readonly correlatedId: string;
  readonly toolName: string;
  readonly toolVersion: string;
  readonly targetId: string;
  readonly actionMnemonic: string;
  readonly configurationId: string;
}

/** An invocation's id is its tool's own: it names one within a project only. */
export function invocationKey({
  project,
  invocation,
}: Pick<Asking, "project" | "invocation">): string {
  // No project has a space in its name.
  return `${project} ${invocation}`;
}
