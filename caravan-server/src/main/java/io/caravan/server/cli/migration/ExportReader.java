package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.github.luben.zstd.ZstdIOException;
import io.caravan.StoreConfig;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.migration.ExportFile.Compression;
import io.caravan.server.document.PortableAttributes;
import java.io.CharConversionException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads the documents of an export, and checks its integrity: the order of the lines, the sequences, the counts, and
 * the checksums. Not thread-safe.
 */
final class ExportReader {
    private static final String BASE64 = "Base64";
    /** The length of the longest value in Base64, plus a margin. */
    private static final int MAX_TEXT_CHARS = StoreConfig.MAX_VALUE_BYTES / 3 * 4 + 1024;

    private static final ObjectMapper JSON = new ObjectMapper(JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(MAX_TEXT_CHARS)
                    .build())
            .build());

    private final JsonParser json;
    private final Progress progress;
    private final TransferTotals totals = new TransferTotals(why -> {});
    private @Nullable Description document;
    private @Nullable DocumentChecksum sum;
    private long next;
    private boolean begun;

    /**
     * Creates a reader of an export, which may be compressed.
     *
     * @throws EOFException if the export is cut off within the bytes that a decompressor reads first
     */
    ExportReader(InputStream in, Progress progress) throws IOException {
        this.progress = progress;
        try {
            this.json = JSON.createParser(Compression.decompressed(in));
        } catch (EOFException | ZstdIOException cut) {
            EOFException problem = new EOFException("the export is damaged or cut off at its beginning");
            problem.initCause(cut);
            throw problem;
        }
    }

    /**
     * Passes all documents of the export to a receiver.
     *
     * @throws EOFException if the export is truncated, or reading fails. A document whose end was not verified is
     *     abandoned; the documents before it were passed on
     * @throws IOException if the input is not an export, or is damaged; the documents are handled as above
     */
    void readAll(DocumentReceiver to) throws IOException {
        try {
            header(nextLine());
            boolean more = true;
            while (more) {
                more = take(nextLine(), to);
            }
        } catch (IOException damaged) {
            if (document != null) {
                to.abandon();
            }
            throw damaged;
        }
    }

    private JsonNode nextLine() throws IOException {
        JsonToken token;
        try {
            token = json.nextToken();
            if (token == JsonToken.START_OBJECT) {
                return json.readValueAsTree();
            }
        } catch (IOException unreadable) {
            throw unreadable(unreadable);
        }
        if (token == null) {
            throw new EOFException(
                    "the export is cut off: it has no last line; resume it with 'caravan export --resume'");
        }
        throw begun ? damaged("is not an object", null) : noExport(null);
    }

    /** Returns the exception for a line that cannot be read: {@link EOFException}, unless the line is other text. */
    private IOException unreadable(IOException cause) {
        boolean otherText = cause instanceof CharConversionException
                || cause instanceof JsonParseException && !(cause instanceof JsonEOFException);
        if (otherText && !begun) {
            return noExport(cause);
        }
        String where = "the export is damaged or cut off at line " + line() + ": " + firstLine(cause);
        IOException problem = otherText ? new IOException(where) : new EOFException(where);
        problem.initCause(cause);
        return problem;
    }

    private static String firstLine(IOException problem) {
        // Java's exceptions for compressed input that is cut off have no message.
        String message = Objects.requireNonNullElse(problem.getMessage(), "the input ends too early");
        return message.lines().findFirst().orElse("");
    }

    private int line() {
        return json.currentLocation().getLineNr();
    }

    private static IOException noExport(@Nullable IOException cause) {
        return new IOException(
                "this is not an export of caravan: expected a file that 'caravan export' has made, uncompressed or"
                        + " compressed with gzip or zstd",
                cause);
    }

    private IOException damaged(String what, @Nullable Exception cause) {
        return new IOException("the export is damaged: line " + line() + " " + what, cause);
    }

    private void header(JsonNode line) throws IOException {
        if (!line.path("type").asText().equals("export")
                || !line.path("format").asText().equals(ExportWriter.FORMAT)) {
            throw noExport(null);
        }
        begun = true;
        if (number(line, "version") != ExportWriter.VERSION) {
            throw new IOException("the export has version " + number(line, "version") + " of the format; this release"
                    + " reads version " + ExportWriter.VERSION);
        }
    }

    /** Processes a line; returns false after the last line. */
    private boolean take(JsonNode line, DocumentReceiver to) throws IOException {
        boolean within = document != null;
        switch (line.path("type").asText()) {
            case "document" -> {
                require(!within, "begins a document within another");
                begin(line, to);
            }
            case "value" -> {
                require(within, "has a value outside a document");
                value(line, to);
            }
            case "documentEnd" -> {
                require(within, "ends a document that was not begun");
                end(line, to);
            }
            case "void" -> {
                require(within, "is outside a document");
                document = null;
                to.abandon();
            }
            case "end" -> {
                require(!within, "ends the export within a document");
                last(line);
                return false;
            }
            default -> throw damaged("has an unknown type", null);
        }
        return true;
    }

    private void require(boolean holds, String otherwise) throws IOException {
        if (!holds) {
            throw damaged(otherwise, null);
        }
    }

    private void begin(JsonNode line, DocumentReceiver to) throws IOException {
        byte[] begun = bytes(line, "name");
        Description description = new Description(0, number(line, "first"), number(line, "next"), -1, attributes(line));
        require(description.first() >= 0 && description.next() >= description.first(), "has impossible sequences");
        document = description;
        sum = new DocumentChecksum(begun, description);
        next = description.first();
        to.begin(begun, description);
    }

    private void value(JsonNode line, DocumentReceiver to) throws IOException {
        byte[] value = bytes(line, "value");
        require(
                number(line, "sequence") == next
                        && next < Objects.requireNonNull(document).next(),
                "does not have the next sequence");
        next++;
        Objects.requireNonNull(sum).value(value);
        progress.add(0, value.length);
        to.value(next - 1, value);
    }

    private void end(JsonNode line, DocumentReceiver to) throws IOException {
        DocumentChecksum whole = Objects.requireNonNull(sum);
        require(
                next == Objects.requireNonNull(document).next()
                        && number(line, "count") == whole.count()
                        && number(line, "bytes") == whole.bytes()
                        && whole.crc32c().equals(line.path("crc32c").asText()),
                "does not match the document before it, whose values are not those that were exported");
        document = null;
        totals.add(whole);
        progress.add(1, 0);
        to.end();
    }

    private void last(JsonNode line) throws IOException {
        require(
                number(line, "documents") == totals.documents()
                        && number(line, "values") == totals.values()
                        && number(line, "bytes") == totals.bytes()
                        && totals.crc32c().equals(line.path("crc32c").asText()),
                "does not match the documents before it: some are missing");
        JsonToken more;
        try {
            more = json.nextToken();
        } catch (IOException unreadable) {
            throw unreadable(unreadable);
        }
        require(more == null, "follows the last");
    }

    private long number(JsonNode line, String field) throws IOException {
        JsonNode number = line.path(field);
        require(number.isIntegralNumber() && number.canConvertToLong(), "has no number '" + field + "'");
        return number.asLong();
    }

    /** Returns the bytes of a text field, or of the field that contains the text in Base64. */
    private byte[] bytes(JsonNode line, String field) throws IOException {
        JsonNode text = line.path(field);
        JsonNode base64 = line.path(field + BASE64);
        require(text.isTextual() || base64.isTextual(), "has no text '" + field + "'");
        try {
            return text.isTextual() ? text.asText().getBytes(UTF_8) : base64.binaryValue();
        } catch (IOException unreadable) {
            throw damaged("has a field '" + field + BASE64 + "' that is not in Base64", unreadable);
        }
    }

    private Map<String, Object> attributes(JsonNode line) throws IOException {
        JsonNode attributes = line.path("attributes");
        require(attributes.isObject(), "has no attributes");
        try {
            return PortableAttributes.ofJson(
                    JSON.convertValue(attributes, new TypeReference<Map<String, Object>>() {}));
        } catch (IllegalArgumentException unreadable) {
            throw damaged("has unreadable attributes: " + unreadable.getMessage(), unreadable);
        }
    }
}
