import { z } from "zod";
import { record } from "../fake-state.ts";
import { bodyOf, type Route, slugOf } from "./route.ts";

const Query = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).optional(),
});

/** The reasons for minimising a comment in GitHub's schema. */
const classifiers = [
  "ABUSE",
  "DUPLICATE",
  "LOW_QUALITY",
  "OFF_TOPIC",
  "OUTDATED",
  "RESOLVED",
  "SPAM",
];

/** The one GraphQL mutation that the REST API does not have. */
export const graphqlRoute: Route = {
  method: "POST",
  path: "/graphql",
  by: "installation",
  needs: ["pull_requests", "write"],
  handle(call) {
    const { query, variables } = bodyOf(Query, call);
    const failed = (type: string, message: string) => ({
      status: 200,
      body: {
        data: { minimizeComment: null },
        errors: [{ type, path: ["minimizeComment"], message }],
      },
    });
    const [, classifier] = /minimizeComment\s*\([\s\S]*classifier:\s*([A-Z_]+)/.exec(query) ?? [];
    if (classifier === undefined || !classifiers.includes(classifier))
      return failed("undefinedField", "the fake knows minimizeComment with a classifier only");
    const [, variable] = /subjectId:\s*\$([a-zA-Z]+)/.exec(query) ?? [];
    const id = variables?.[variable ?? ""];
    for (const repository of call.state.repositories.values()) {
      for (const comment of repository.comments.values()) {
        if (comment.nodeId !== id) continue;
        comment.isMinimised = true;
        record(call.state, {
          what: "comment minimised",
          repository: slugOf(repository),
          pull: comment.pull,
          id: String(comment.id),
          text: classifier,
        });
        return {
          status: 200,
          body: { data: { minimizeComment: { minimizedComment: { isMinimized: true } } } },
        };
      }
    }
    return failed("NOT_FOUND", `Could not resolve to a node with the global id of '${String(id)}'`);
  },
};
