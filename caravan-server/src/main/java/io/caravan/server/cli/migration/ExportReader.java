package io.caravan.server.cli.migration;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.io.JsonEOFException;
import io.caravan.StoreConfig;
import io.caravan.server.cli.client.DocumentClient.Description;
import java.io.CharConversionException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads the documents of an export, and checks its integrity: the order of the lines, the sequences, the counts, and
 * the checksums. Not thread-safe.
 */
final class ExportReader {
    static final String BASE64 = "Base64";

    /** The length of the longest value in Base64, plus a margin. */
    private static final int MAX_TEXT_CHARS = StoreConfig.MAX_VALUE_BYTES / 3 * 4 + 1024;

    private final JsonParser json;
    private final TransferTotals totals = new TransferTotals();
    private @Nullable Description document;
    private @Nullable DocumentChecksum sum;
    private long next;
    private boolean begun;

    /** Creates a reader of a stream that {@link Compression#decompressed} has decompressed. */
    ExportReader(InputStream in) throws IOException {
        json = JsonFactory.builder()
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxStringLength(MAX_TEXT_CHARS)
                        .build())
                .build()
                .createParser(in);
    }

    /**
     * Passes on all documents.
     *
     * @return their totals
     * @throws EOFException if the export is truncated, or reading fails. A document whose end was not verified is
     *     abandoned; the documents before it were passed on
     * @throws IOException if the input is not an export, or is damaged; the documents are handled as above
     */
    TransferTotals readAll(DocumentReceiver to) throws IOException {
        try {
            header(nextLine());
            boolean more = true;
            while (more) {
                more = take(nextLine(), to);
            }
            return totals;
        } catch (IOException damaged) {
            if (document != null) {
                to.abandon();
            }
            throw damaged;
        }
    }

    private ExportLine nextLine() throws IOException {
        JsonToken token;
        try {
            token = json.nextToken();
            if (token == JsonToken.START_OBJECT) {
                return ExportLine.parse(json);
            }
        } catch (IOException unreadable) {
            boolean otherText = unreadable instanceof CharConversionException
                    || unreadable instanceof JsonParseException && !(unreadable instanceof JsonEOFException);
            if (otherText && !begun) {
                throw noExport(unreadable);
            }
            String where = "the export is damaged or cut off at line " + line() + ": " + firstLine(unreadable);
            IOException problem = otherText ? new IOException(where) : new EOFException(where);
            problem.initCause(unreadable);
            throw problem;
        }
        if (token == null) {
            throw new EOFException(
                    "the export is cut off: it has no last line; 'caravan export --resume' goes on with it");
        }
        throw begun ? damaged("is no object") : noExport(null);
    }

    private static String firstLine(IOException problem) {
        return String.valueOf(problem.getMessage()).lines().findFirst().orElse("");
    }

    private int line() {
        return json.currentLocation().getLineNr();
    }

    private static IOException noExport(@Nullable IOException cause) {
        return new IOException(
                "this is no export of caravan: expected is a file that 'caravan export' has made, as it is, or compressed"
                        + " with gzip or zstd",
                cause);
    }

    private IOException damaged(String what) {
        return new IOException("the export is damaged: line " + line() + " " + what);
    }

    private void header(ExportLine line) throws IOException {
        if (!line.has("type", "export") || !line.has("format", ExportWriter.FORMAT)) {
            throw noExport(null);
        }
        begun = true;
        if (line.number("version") != ExportWriter.VERSION) {
            throw new IOException("the export has version " + line.number("version") + " of the format; this release"
                    + " reads version " + ExportWriter.VERSION);
        }
    }

    /** Processes a line; returns false after the last line. */
    private boolean take(ExportLine line, DocumentReceiver to) throws IOException {
        boolean within = document != null;
        switch (line.type()) {
            case "document" -> {
                require(!within, "begins a document within another");
                begin(line, to);
            }
            case "value" -> {
                require(within, "has a value of no document");
                value(line, to);
            }
            case "documentEnd" -> {
                require(within, "ends no document");
                end(line, to);
            }
            case "void" -> {
                require(within, "is about no document");
                document = null;
                to.abandon();
            }
            case "end" -> {
                require(!within, "ends the export within a document");
                last(line);
                return false;
            }
            default -> throw damaged("is of a type that is not known");
        }
        return true;
    }

    private void require(boolean holds, String otherwise) throws IOException {
        if (!holds) {
            throw damaged(otherwise);
        }
    }

    private void begin(ExportLine line, DocumentReceiver to) throws IOException {
        byte[] begun = line.bytes("name");
        Description description = line.description();
        require(
                description.first() >= 0 && description.next() >= description.first(),
                "has sequences that no document has");
        document = description;
        sum = new DocumentChecksum(begun, description);
        next = description.first();
        to.begin(begun, description);
    }

    private void value(ExportLine line, DocumentReceiver to) throws IOException {
        byte[] value = line.bytes("value");
        require(
                line.number("sequence") == next
                        && next < Objects.requireNonNull(document).next(),
                "has another sequence than follows");
        next++;
        Objects.requireNonNull(sum).value(value);
        to.value(next - 1, value);
    }

    private void end(ExportLine line, DocumentReceiver to) throws IOException {
        DocumentChecksum whole = Objects.requireNonNull(sum);
        require(
                next == Objects.requireNonNull(document).next()
                        && line.number("count") == whole.count()
                        && line.number("bytes") == whole.bytes()
                        && whole.crc32c().equals(line.text("crc32c")),
                "does not fit the document before it, whose values are not what was exported");
        document = null;
        totals.add(whole);
        to.end(whole);
    }

    private void last(ExportLine line) throws IOException {
        require(
                line.number("documents") == totals.documents()
                        && line.number("values") == totals.values()
                        && line.number("bytes") == totals.bytes()
                        && totals.crc32c().equals(line.text("crc32c")),
                "does not fit the documents before it: some are missing");
        require(json.nextToken() == null, "follows the last");
    }
}
