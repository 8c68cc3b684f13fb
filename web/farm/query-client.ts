import { QueryClient } from "@tanstack/react-query";
import { AnswerError } from "./ask.ts";

/**
 * The data of pages. A page requests its data once when it is opened; streams report later changes, so nothing is
 * requested again on focus or by a timer.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A page does not repeat the request that its route has just made.
      staleTime: 5_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      // A refused request is not repeated; an unreachable server may come back.
      retry: (failures, reason) =>
        reason instanceof AnswerError && reason.status === 0 && failures < 2,
      retryDelay: 400,
    },
  },
});
