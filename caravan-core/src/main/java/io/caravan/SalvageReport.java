package io.caravan;

/**
 * The result of salvaging a damaged store.
 *
 * @param lists number of lists in the new store
 * @param entries number of their entries, all of which were checked
 * @param bytes total length of their values, in bytes
 * @param lostEntries number of entries known to be missing, because their bytes are lost or do not match the checksum
 * @param losses number of losses reported; 0 if everything was salvaged
 */
public record SalvageReport(long lists, long entries, long bytes, long lostEntries, long losses) {

    /**
     * Data that could not be salvaged.
     *
     * @param id list id; not applicable if {@code first} is -1
     * @param first first missing sequence, or -1 if the contents of a damaged place are unknown
     * @param last last missing sequence, or -1
     * @param reason the problem and its location
     */
    public record Loss(long id, long first, long last, String reason) {
        /** Returns a loss whose contents are unknown. */
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

    /** Receives losses as they are found, and the progress of the salvage, on the thread that salvages. */
    public interface Listener extends VerifyReport.Progress {
        void lost(Loss loss);
    }
}
