import { z } from "zod";

export const OperationId = z.uuid().brand<"OperationId">();
export type OperationId = z.infer<typeof OperationId>;

const prefix = "operations/";

export function operationName(id: OperationId): string {
  return `${prefix}${id}`;
}

/** Returns the operation's id in its name; undefined when the name is not one of this farm. */
export function operationIdIn(name: string): OperationId | undefined {
  if (!name.startsWith(prefix)) return undefined;
  return OperationId.safeParse(name.slice(prefix.length)).data;
}
