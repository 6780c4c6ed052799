package io.caravan.torture.hostloss;

import io.caravan.torture.model.ListModel;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Records, change by change, the history of a document that has only one writer. Used by one thread at a time: first by
 * the writer, then by the checker.
 */
final class DocumentHistory {
    private static final int SHOWN_NAME_CHARS = 40;

    /**
     * The result of looking up a document in its history.
     *
     * @param problem the problem, or null
     * @param moment position of the moment that the document matches; -1 if there is none
     * @param lost number of acknowledged changes that the document lacks
     * @param lostSinceNanos time at which the first of these changes was acknowledged; undefined if there are none
     */
    record Finding(@Nullable String problem, int moment, int lost, long lostSinceNanos) {}

    private final int number;
    private final byte[] name;
    private final List<Moment> moments = new ArrayList<>();
    private long stamps;

    /** The expected state of the document after one of its changes. */
    private static final class Moment {
        /** The contents of the document at this moment, or null if it did not exist. */
        private final @Nullable ListModel list;

        private boolean acknowledged;
        private long acknowledgedNanos;

        Moment(@Nullable ListModel list) {
            this.list = list;
        }

        /** Whether the change that led to this moment had been acknowledged by the given time. */
        boolean acknowledgedBy(long nanos) {
            return acknowledged && acknowledgedNanos - nanos <= 0;
        }

        /** Whether the found document, or its absence, matches this moment, including all sequences and values. */
        boolean is(@Nullable ListModel found) {
            return list == null || found == null ? list == found : list.difference(found) == null;
        }

        @Override
        public String toString() {
            return list == null ? "missing" : list.toString();
        }
    }

    /** Creates the history of a document that does not exist yet. */
    DocumentHistory(int number) {
        this.number = number;
        name = DocumentValues.name(number);
        moments.add(new Moment(null));
    }

    byte[] name() {
        return name;
    }

    boolean large() {
        return number == DocumentValues.LARGE_DOCUMENT;
    }

    /** Returns the document as it would be if every request had taken effect, or null if it would not exist. */
    @Nullable
    ListModel latest() {
        return last().list;
    }

    private Moment last() {
        return moments.get(moments.size() - 1);
    }

    /** Records an append, and returns the values to append. Creates the document if it does not exist. */
    List<byte[]> append(int count) {
        ListModel before = latest();
        ListModel list = before == null ? new ListModel(0) : before.copy();
        List<byte[]> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long stamp = stamps++;
            byte[] value = DocumentValues.value(number, stamp);
            list.append(ByteBuffer.wrap(value), "value number " + stamp);
            values.add(value);
        }
        moments.add(new Moment(list));
        return values;
    }

    /** Records a trim of the values before a sequence. */
    void trim(long firstSequence) {
        ListModel list = Objects.requireNonNull(latest()).copy();
        list.trimTo(firstSequence);
        moments.add(new Moment(list));
    }

    void delete() {
        moments.add(new Moment(null));
    }

    /** Records the time at which the last change was acknowledged. */
    void acknowledged(long nanos) {
        last().acknowledged = true;
        last().acknowledgedNanos = nanos;
    }

    /**
     * Looks up the found document in the history.
     *
     * @param found the document found; null if it does not exist
     * @param mustNanos changes acknowledged by this time must be included
     */
    Finding find(@Nullable ListModel found, long mustNanos) {
        int certain = certain(mustNanos);
        int at = moments.size() - 1;
        while (at >= 0 && !moments.get(at).is(found)) {
            at--;
        }
        if (at < 0) {
            return new Finding(neverSo(found, certain), -1, 0, 0);
        }
        String problem = at < certain ? tooOld(at, certain, mustNanos) : null;
        return finding(problem, at);
    }

    /** Continues the history from the found moment. Earlier moments no longer matter, and later changes are lost. */
    void continueFrom(Finding finding) {
        Moment found = moments.get(finding.moment());
        moments.clear();
        moments.add(found);
    }

    private Finding finding(@Nullable String problem, int at) {
        int lost = 0;
        for (int i = at + 1; i < moments.size() && moments.get(i).acknowledged; i++) {
            lost++;
        }
        return new Finding(problem, at, lost, lost == 0 ? 0 : moments.get(at + 1).acknowledgedNanos);
    }

    /**
     * Returns the position of the last moment that the document must have reached. The first moment needs no
     * acknowledgment, because it is the initial state.
     */
    private int certain(long mustNanos) {
        int at = moments.size() - 1;
        while (at > 0 && !moments.get(at).acknowledgedBy(mustNanos)) {
            at--;
        }
        return at;
    }

    private String tooOld(int at, int certain, long mustNanos) {
        long lateMillis = TimeUnit.NANOSECONDS.toMillis(mustNanos - moments.get(at + 1).acknowledgedNanos);
        return this + " is as it was (" + moments.get(at) + ") before " + (certain - at)
                + " changes that the archive must contain, the first of them acknowledged " + lateMillis
                + " ms before the limit; must be at least: " + moments.get(certain);
    }

    private String neverSo(@Nullable ListModel found, int certain) {
        String was = this + (found == null ? " does not exist" : " has " + found);
        for (Moment moment : moments) {
            if (found != null && moment.list != null && found.toString().equals(moment.toString())) {
                return was + ", but should be as appended: it " + moment.list.difference(found);
            }
        }
        return was + ", which matches no moment of its history; must be at least: " + moments.get(certain)
                + ", at most: " + last();
    }

    @Override
    public String toString() {
        String text = new String(name, StandardCharsets.ISO_8859_1).replaceAll("[^ -~]", "?");
        return "document "
                + (text.length() <= SHOWN_NAME_CHARS
                        ? text
                        : text.substring(0, SHOWN_NAME_CHARS) + "... (" + name.length + " bytes)");
    }

    /** Generates the names and values of documents from the number of the document and the number of the value. */
    private static final class DocumentValues {
        /** The number of a document so large that it exceeds the limits of both a store batch and one S3 request. */
        static final int LARGE_DOCUMENT = 0;

        private static final int LARGEST_BYTES = 256 * 1024;
        private static final int LONG_NAME_EVERY = 50;
        private static final int MAX_NAME_BYTES = 1024;
        private static final int ALPHABET = 4;

        private DocumentValues() {}

        /** Returns a name of arbitrary bytes; some names have the maximum length. */
        static byte[] name(int document) {
            byte[] readable = ("doc/" + document + '/').getBytes(StandardCharsets.US_ASCII);
            SplittableRandom random = new SplittableRandom(document);
            int oddBytes = document % LONG_NAME_EVERY == 1 ? MAX_NAME_BYTES - readable.length : 1 + random.nextInt(6);
            byte[] odd = new byte[oddBytes];
            random.nextBytes(odd);
            return ByteBuffer.allocate(readable.length + oddBytes)
                    .put(readable)
                    .put(odd)
                    .array();
        }

        /** Returns the document's value with this number; half of the values are compressible. */
        static byte[] value(int document, long stamp) {
            SplittableRandom random = new SplittableRandom(((long) document << Integer.SIZE) + stamp);
            byte[] value = new byte[length(document, random)];
            random.nextBytes(value);
            if (random.nextBoolean()) {
                for (int i = 0; i < value.length; i++) {
                    value[i] = (byte) ('a' + value[i] % ALPHABET);
                }
            }
            return value;
        }

        private static int length(int document, SplittableRandom random) {
            if (document == LARGE_DOCUMENT) {
                return random.nextInt(LARGEST_BYTES / 4, LARGEST_BYTES);
            }
            return switch (random.nextInt(20)) {
                case 0 -> random.nextInt(40_000);
                case 1, 2 -> random.nextInt(4_000);
                case 3 -> 0;
                default -> random.nextInt(8, 300);
            };
        }
    }
}
