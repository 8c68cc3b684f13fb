/** How much runs vary around their middle before there are enough to say: by a quarter, up or down. */
export const usualSigma = 0.25;
/** A run that was stopped for its time would have taken longer, say half as long again; nobody knows. */
export const logStoppedFactor = Math.log(1.5);
/** As above, of one that ran out of memory. */
export const logOutOfMemoryFactor = Math.log(1.5);
