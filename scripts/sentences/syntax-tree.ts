/** A node of the syntax tree that the parser of TypeScript returns. */
export interface Node {
  readonly type: string;
  /** Where it starts in the source, in UTF-16 units. */
  readonly start: number;
  readonly [key: string]: unknown;
}

export function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter(
      (value): value is Node =>
        typeof value === "object" && value !== null && typeof (value as Node).type === "string",
    );
}
