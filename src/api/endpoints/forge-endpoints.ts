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
    summary: "Which repositories are watched, and how that goes ([docs/forge.md](forge.md)).",
    answer: json(ForgeRepositories),
  }),
  forgeRepository: endpoint({
    method: "GET",
    path: "/forge/repository",
    right: rightOnListed("read"),
    summary:
      "Heads, pull requests, webhooks that came, what the forge does not show yet. Named as graphs call it, or as its forge does.",
    query: z.object({ repository: z.string().min(1).max(4_096) }),
    answer: json(ForgeRepositoryDetail),
  }),
  addForgeRepository: endpoint({
    method: "POST",
    path: "/forge/repositories",
    right: rightOnFarm("forge"),
    summary: "Watches a repository; 409 when it is watched already.",
    body: AddForgeRepository,
    answer: created(ForgeRepository),
  }),
  setForgePolicy: endpoint({
    method: "POST",
    path: "/forge/repositories/policy",
    right: rightOnFarm("forge"),
    summary: "Changes what is done with it: only what is named changes, null takes it back.",
    body: ChangeForgePolicy,
    answer: json(ForgeRepository),
  }),
  lookAtForgeRepository: endpoint({
    method: "POST",
    path: "/forge/repositories/look",
    right: rightOnFarm("forge"),
    summary: "Compares it with its forge at once.",
    body: NameForgeRepository,
    answer: json(ForgeRepository),
  }),
  removeForgeRepository: endpoint({
    method: "POST",
    path: "/forge/repositories/remove",
    right: rightOnFarm("forge"),
    summary: "Watches it no more; its graphs stay.",
    body: NameForgeRepository,
    answer: json(RemovedForgeRepository),
  }),
  approvePull: endpoint({
    method: "POST",
    path: "/forge/approve",
    right: rightOnFarm("forge"),
    summary: "Lets the head of a pull request from a fork run; 409 when it is another commit.",
    body: ApprovePull,
    answer: json(ApprovedPull),
  }),
  forgeExamination: endpoint({
    method: "GET",
    path: "/forge/examination",
    right: rightOnFarm("forge"),
    summary: "What is wrong with a set-up; without a repository, with the App.",
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
    summary: "What the account lent to the principal ends at once.",
    body: UnlinkForgeAccount,
    answer: json(UnlinkForgeAccount),
  }),
  forgeDeliveries: endpoint({
    method: "GET",
    path: "/forge/deliveries",
    right: rightOnFarm("read"),
    summary: "The last 100 webhooks that came.",
    answer: json(ForgeDeliveries),
  }),
} as const;
