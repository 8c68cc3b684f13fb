/**
 * Told of in the transaction that changes a request, a job or a collector. The payload is a suite's name where
 * one is at hand, else empty: who hears it looks for itself.
 */
export const benchmarkChannel = "grange_benchmark";
