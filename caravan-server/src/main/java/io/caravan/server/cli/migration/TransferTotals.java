package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.fasterxml.jackson.core.JsonGenerator;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.migration.Importer.Outcome;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/** Counts transferred documents and, in an import, the other outcomes. Not thread-safe. */
final class TransferTotals implements Importer.Outcomes {
    private final Consumer<String> tell;
    private final CRC32C crc = new CRC32C();
    private long documents;
    private long values;
    private long bytes;
    private long already;
    private long different;
    private long expired;
    private long rejected;

    /**
     * Creates an instance that counts nothing yet.
     *
     * @param tell receives the reason for each rejection
     */
    TransferTotals(Consumer<String> tell) {
        this.tell = tell;
    }

    /** Counts a transferred document. */
    void add(DocumentChecksum sum) {
        documents++;
        values += sum.count();
        bytes += sum.bytes();
        crc.update(sum.crc32c().getBytes(US_ASCII));
    }

    @Override
    public void settled(Upload document, Outcome outcome, String why) {
        switch (outcome) {
            case SENT -> add(document.sum());
            case REJECTED -> reject(why);
            default -> count(outcome);
        }
    }

    void count(Outcome outcome) {
        already += outcome == Outcome.ALREADY ? 1 : 0;
        different += outcome == Outcome.DIFFERENT ? 1 : 0;
        expired += outcome == Outcome.EXPIRED ? 1 : 0;
        rejected += outcome == Outcome.REJECTED ? 1 : 0;
    }

    void reject(String why) {
        count(Outcome.REJECTED);
        tell.accept(why);
    }

    /** Sets the number of rejected and skipped documents to 0. */
    void resetRejected() {
        different = 0;
        rejected = 0;
    }

    long documents() {
        return documents;
    }

    long values() {
        return values;
    }

    long bytes() {
        return bytes;
    }

    long already() {
        return already;
    }

    long rejected() {
        return rejected;
    }

    /** Returns a checksum of the checksums of the documents, in their order. */
    String crc32c() {
        return DocumentChecksum.hex(crc);
    }

    /** Formats the transferred documents, for example {@code 2 documents, 5 values, 71 B}. */
    String transferred(String thing) {
        return Figures.count(documents, thing) + ", " + Figures.count(values, "value") + ", " + Figures.size(bytes);
    }

    /** Formats the other outcomes, for example {@code ; 1 skipped}. */
    String others() {
        return some(already, "were there already")
                + some(different, "skipped")
                + some(expired, "had expired")
                + some(rejected, "rejected");
    }

    String line(String thing) {
        return transferred(thing) + others();
    }

    static String some(long count, String what) {
        return count == 0 ? "" : "; " + count + " " + what;
    }

    void write(JsonGenerator json) throws IOException {
        json.writeNumberField("documents", documents);
        json.writeNumberField("values", values);
        json.writeNumberField("bytes", bytes);
    }

    void writeOthers(JsonGenerator json) throws IOException {
        json.writeNumberField("already", already);
        json.writeNumberField("skipped", different);
        json.writeNumberField("expired", expired);
        json.writeNumberField("rejected", rejected);
    }

    void writeAll(JsonGenerator json) throws IOException {
        write(json);
        writeOthers(json);
    }
}
