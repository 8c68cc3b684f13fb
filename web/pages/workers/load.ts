import { queryOptions } from "@tanstack/react-query";
import { z } from "zod";
import { Worker } from "#api/worker.ts";
import { ask } from "../../farm/ask.ts";

export const Workers = z.array(Worker);

export const workersQuery = queryOptions({
  queryKey: ["workers"],
  queryFn: ({ signal }) => ask(Workers, "/workers", { signal }),
});
