/**
 * The faults of the fake, each as a share of the possible cases. All can be changed while it runs.
 */
export interface FakeFaults {
  /** Webhooks that never arrive. Half of them are in the list of deliveries, as failed. */
  readonly webhookLoss: number;
  readonly webhookDouble: number;
  /** Webhooks that are delayed until later ones were sent. */
  readonly webhookReorder: number;
  /** Requests answered with 500 before any change. */
  readonly serverError: number;
  /** Requests answered with a proxy's 502 page before any change. */
  readonly badGateway: number;
  /** Requests answered with 403 because of a secondary limit. */
  readonly secondaryLimit: number;
  readonly retryAfterSeconds: number;
  /**
   * Writes that are made, but whose response never arrives: the connection is cut after `hangMs`.
   */
  readonly timeoutAfterSuccess: number;
  /** Writes that are made, but answered with 500 or 502. */
  readonly errorAfterSuccess: number;
  readonly hangMs: number;
}

export const noFaults: FakeFaults = {
  webhookLoss: 0,
  webhookDouble: 0,
  webhookReorder: 0,
  serverError: 0,
  badGateway: 0,
  secondaryLimit: 0,
  retryAfterSeconds: 1,
  timeoutAfterSuccess: 0,
  errorAfterSuccess: 0,
  hangMs: 200,
};
