import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import { Comparison } from "#api/benchmark-comparison.ts";
import { Shared, shareHeader } from "#api/share.ts";
import { apiBase, failureOf, reach } from "../../farm/ask.ts";

/** The headers by which a link opens its object. The token is in no address, because addresses are written down. */
export function headersOf(token: string): Readonly<Record<string, string>> {
  return { [shareHeader]: token };
}

async function read<Shape extends z.ZodType>(
  shape: Shape,
  path: string,
  token: string,
  signal: AbortSignal,
): Promise<z.output<Shape>> {
  const response = await reach(`${apiBase}${path}`, { headers: headersOf(token), signal });
  if (!response.ok) throw await failureOf(response);
  return shape.parse(await response.json());
}

export const sharedQuery = (token: string) =>
  queryOptions({
    queryKey: ["shared", token],
    queryFn: ({ signal }) => read(Shared, "/shared", token, signal),
    retry: false,
  });

export const sharedComparisonQuery = (token: string) =>
  queryOptions({
    queryKey: ["shared-comparison", token],
    queryFn: ({ signal }) => read(Comparison, "/shared/comparison", token, signal),
  });

/** Saves the output that a link opens as a file. */
export async function downloadShared(token: string, path: string): Promise<void> {
  const response = await reach(`${apiBase}/shared/output`, { headers: headersOf(token) });
  if (!response.ok) throw await failureOf(response);
  const file = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = file;
  link.download = path.slice(path.lastIndexOf("/") + 1);
  link.click();
  URL.revokeObjectURL(file);
}
