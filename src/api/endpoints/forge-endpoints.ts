import { z } from "zod";
import { rightOnFarm, rightOnListed } from "#core/right.ts";
import { created, endpoint, json } from "../endpoint.ts";
import {
  AddForgeRepository,
  ApprovedPull,
  ApprovePull,
  ChangeForgePolicy,
  ForgeAccount,
  ForgeDeliveries,
  ForgeExamination,
  ForgeRepositories,
  ForgeRepository,
  ForgeRepositoryDetail,
  LinkForgeAccount,
  NameForgeRepository,
  RemovedForgeRepository,
  UnlinkForgeAccount,
} from "../forge.ts";

/** Repositories that are watched at forges. One is named as in graphs or as at its forge. */
export const forgeEndpoints = {
  forgeRepositories: endpoint({
    method: "GET",
    path: "/forge/repositories",
    right: rightOnListed("read"),
    summary: "Watched repositories and their state ([docs/forge.md](forge.md)).",
    answer: json(ForgeRepositories),
  }),
  forgeRepository: endpoint({
    method: "GET",
    path: "/forge/repository",
    right: rightOnListed("read"),
    summary:
      "Heads, pull requests, received webhooks, and reports not delivered yet. Use the name of the repository in graphs, or at the forge.",
    query: z.object({ repository: z.string().min(1).max(4_096) }),
    answer: json(ForgeRepositoryDetail),
  }),
  addForgeRepository: endpoint({
    method: "POST",
    path: "/forge/repositories",
    right: rightOnFarm("forge"),
    summary: "Watches a repository; 409 if it is already watched.",
    body: AddForgeRepository,
    answer: created(ForgeRepository),
  }),
  setForgePolicy: endpoint({
    method: "POST",
    path: "/forge/repositories/policy",
    right: rightOnFarm("forge"),
    summary: "Changes its settings: only given keys change; null restores a default.",
    body: ChangeForgePolicy,
    answer: json(ForgeRepository),
  }),
  lookAtForgeRepository: endpoint({
    method: "POST",
    path: "/forge/repositories/look",
    right: rightOnFarm("forge"),
    summary: "Compares it with its forge now.",
    body: NameForgeRepository,
    answer: json(ForgeRepository),
  }),
  removeForgeRepository: endpoint({
    method: "POST",
    path: "/forge/repositories/remove",
    right: rightOnFarm("forge"),
    summary: "Stops watching it; its graphs are kept.",
    body: NameForgeRepository,
    answer: json(RemovedForgeRepository),
  }),
  approvePull: endpoint({
    method: "POST",
    path: "/forge/approve",
    right: rightOnFarm("forge"),
    summary: "Approves the head of a pull request from a fork; 409 if the head is another commit.",
    body: ApprovePull,
    answer: json(ApprovedPull),
  }),
  forgeExamination: endpoint({
    method: "GET",
    path: "/forge/examination",
    right: rightOnFarm("forge"),
    summary: "Problems in the configuration of a repository; without a repository, of the App.",
    query: z.object({ repository: z.string().min(1).max(4_096).optional() }),
    answer: json(ForgeExamination),
  }),
  forgeAccounts: endpoint({
    method: "GET",
    path: "/forge/accounts",
    right: rightOnFarm("administer"),
    summary:
      "Which principals are which accounts. They may read repositories whose policy has `readers`, with that permission there.",
    answer: json(z.array(ForgeAccount)),
  }),
  linkForgeAccount: endpoint({
    method: "POST",
    path: "/forge/accounts",
    right: rightOnFarm("administer"),
    summary: "Links a principal with its account, in place of an earlier one.",
    body: LinkForgeAccount,
    answer: json(ForgeAccount),
  }),
  unlinkForgeAccount: endpoint({
    method: "POST",
    path: "/forge/accounts/remove",
    right: rightOnFarm("administer"),
    summary: "The rights that the principal has from this account end at once.",
    body: UnlinkForgeAccount,
    answer: json(UnlinkForgeAccount),
  }),
  forgeDeliveries: endpoint({
    method: "GET",
    path: "/forge/deliveries",
    right: rightOnFarm("read"),
    summary: "The last 100 received webhooks.",
    answer: json(ForgeDeliveries),
  }),
} as const;
