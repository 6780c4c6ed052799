package io.caravan;

/**
 * The result of salvaging a damaged store.
 *
 * @param lists number of lists in the new store
 * @param entries number of their entries, all of which were checked
 * @param bytes total length of their values, in bytes
 * @param lostEntries number of entries known to be missing, because their bytes are lost or do not match the checksum
 * @param losses number of reported losses; 0 if the salvage lost nothing
 */
public record SalvageReport(long lists, long entries, long bytes, long lostEntries, long losses) {

    /**
     * A loss: data that could not be salvaged.
     *
     * @param id list id; not applicable if {@code first} is -1
     * @param first first missing sequence, or -1 if the lost data cannot be identified
     * @param last last missing sequence, or -1
     * @param reason the problem and its location
     */
    public record Loss(long id, long first, long last, String reason) {
        /** Returns a loss of data that cannot be identified. */
        public static Loss of(String reason) {
            return new Loss(CorruptStoreException.NOT_APPLICABLE, -1, -1, reason);
        }

        @Override
        public String toString() {
            return first < 0
                    ? reason
                    : "document " + id + ", sequence " + first + (last > first ? " to " + last : "") + ": " + reason;
        }
    }

    /** Receives each loss when it is found, and the progress of the salvage, on the thread that runs the salvage. */
    public interface Listener extends VerifyReport.Progress {
        void lost(Loss loss);
    }
}
