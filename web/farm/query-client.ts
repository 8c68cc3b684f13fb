import { QueryClient } from "@tanstack/react-query";
import { AnswerError } from "./ask.ts";

/**
 * What pages know. A page asks once when it is opened; what changes after that
 * is told by streams, so nothing is asked again on focus or on a timer.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // What a route has just asked for is not asked for again by its page.
      staleTime: 5_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      // A question answered with no is not asked again; a server that is away may come back.
      retry: (failures, reason) =>
        reason instanceof AnswerError && reason.status === 0 && failures < 2,
      retryDelay: 400,
    },
  },
});
