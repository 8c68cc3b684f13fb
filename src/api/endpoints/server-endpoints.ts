import { z } from "zod";
import { rightOnFarm, rightOnListed, rightSomewhere } from "#core/right.ts";
import { Backup } from "../backup.ts";
import { endpoint, json } from "../endpoint.ts";
import { FoundObjects } from "../find.ts";
import { JsonDocument } from "../json-document.ts";
import { Overview } from "../overview.ts";
import { ServerInfo } from "../server-info.ts";
import { StoreStanding } from "../store.ts";

/** The server itself, and the documents that describe it. */
export const serverEndpoints = {
  server: endpoint({
    method: "GET",
    path: "/server",
    right: rightSomewhere("read"),
    summary: "The version of the server, its database, and its start time.",
    answer: json(ServerInfo),
  }),
  overview: endpoint({
    method: "GET",
    path: "/overview",
    right: rightOnListed("read"),
    mayLag: true,
    summary:
      "What needs attention, the newest graphs, and how busy the farm is. Without `read` for the whole farm, `farm` is null and `attention` only contains graphs.",
    answer: json(Overview),
  }),
  find: endpoint({
    method: "GET",
    path: "/find",
    right: rightOnListed("read"),
    mayLag: true,
    summary:
      "Repositories, graphs, jobs, invocations, benchmarks and workers whose names contain all words of `text`, at most `limit` of each kind; for an id of a graph or an execution, that one. Graphs and invocations are looked for among the newest 2,000, jobs in the newest 30 graphs. Workers and benchmarks need `read` for the whole farm.",
    query: z.object({
      text: z.string().max(200),
      limit: z.coerce.number().int().min(1).max(20).default(6),
    }),
    limit: "searches",
    answer: json(FoundObjects),
  }),
  store: endpoint({
    method: "GET",
    path: "/store",
    right: rightOnFarm("read"),
    summary:
      "The limit of the blob store, its size when it was last counted, and what was removed from it ([what is kept](retention.md)).",
    answer: json(StoreStanding),
  }),
  backups: endpoint({
    method: "GET",
    path: "/backups",
    right: rightOnFarm("administer"),
    summary: "The last 20 complete backups, newest first ([backup](backup.md)).",
    answer: json(z.array(Backup)),
  }),
  openApi: endpoint({
    method: "GET",
    path: "/openapi.json",
    right: rightSomewhere("read"),
    summary: "This API as an OpenAPI 3.1 document.",
    answer: json(JsonDocument),
  }),
  definitionsSchema: endpoint({
    method: "GET",
    path: "/schema/definitions.json",
    right: rightSomewhere("read"),
    summary: "The JSON Schema of `.grange/*.yml`.",
    answer: json(JsonDocument),
  }),
} as const;
