/**
 * Notified in the transaction that changes a request, a job or a collector. The payload is a suite's name if it is
 * known, otherwise empty; listeners read the changes themselves.
 */
export const benchmarkChannel = "grange_benchmark";
