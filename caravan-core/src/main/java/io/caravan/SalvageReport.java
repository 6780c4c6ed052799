package io.caravan;

/**
 * What was salvaged from a damaged store.
 *
 * @param lists lists in the new store
 * @param entries their entries, each of which was checked
 * @param bytes bytes of their values
 * @param lostEntries entries that are known to be missing, because their bytes do not check or are not there
 * @param losses losses that were told; 0 when everything came
 */
public record SalvageReport(long lists, long entries, long bytes, long lostEntries, long losses) {

    /**
     * Something that did not come.
     *
     * @param id document id, when {@code first} applies
     * @param first first sequence that is missing, or -1 when it is not known what a damaged place held
     * @param last last one of the same kind
     * @param reason what is wrong, and where
     */
    public record Loss(long id, long first, long last, String reason) {
        /** Damage to a place that may have held anything. */
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

    /** Is told of losses as they are found, and of the progress; on the thread that salvages. */
    public interface Listener extends VerifyReport.Progress {
        void lost(Loss loss);
    }
}
