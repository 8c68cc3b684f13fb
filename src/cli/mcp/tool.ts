import type { z } from "zod";
import type { ApiClient } from "../api/api-client.ts";

/** The answer of a tool: lines for the model to read, and the same facts as data. */
interface ToolAnswer {
  readonly lines: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
}

/** A tool that assistants can call. Each calls the farm with the rights of the caller's token. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Whether a call can change something on the farm. */
  readonly changes: boolean;
  readonly input: z.ZodObject;
  run(api: ApiClient, input: unknown): Promise<ToolAnswer>;
}

/** Builds a tool whose function gets its parsed input. */
export function tool<Input extends z.ZodObject>({
  input,
  run,
  changes = false,
  ...rest
}: {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly changes?: boolean;
  readonly input: Input;
  readonly run: (api: ApiClient, input: z.output<Input>) => Promise<ToolAnswer>;
}): Tool {
  return { ...rest, changes, input, run: (api, given) => run(api, input.parse(given)) };
}

/** Characters of an answer. Assistants have a limited context, and a longer text would push out the rest of it. */
const mostCharacters = 40_000;

/** Returns the text of an answer. When it is too long, its end is left out, and the last line says so. */
export function boundedText(lines: readonly string[], most = mostCharacters): string {
  const text = lines.join("\n");
  if (text.length <= most) return text;
  const whole = text.slice(0, text.lastIndexOf("\n", most) + 1) || text.slice(0, most);
  return `${whole}… and ${text.length - whole.length} characters more. Ask for less: fewer lines, or one job.`;
}
