package io.caravan.bench.replay;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.caravan.bench.replay.Trace.Patch;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * Reads gzipped JSON with the fields {@code startContent}, {@code endContent}, and {@code txns}: a list of objects,
 * each with a list {@code patches} of {@code [position, deleted, inserted]}. Skips other fields.
 */
final class TraceReader {
    private static final int BUFFER_BYTES = 64 * 1024;

    private final JsonParser json;
    private final List<List<Patch>> transactions = new ArrayList<>();
    private String startContent = "";
    private String endContent = "";

    private TraceReader(JsonParser json) {
        this.json = json;
    }

    /** Reads the file, and checks that its transactions turn {@code startContent} into {@code endContent}. */
    static Trace read(Path file) throws IOException {
        Trace trace;
        try (InputStream in = new GZIPInputStream(new BufferedInputStream(Files.newInputStream(file)), BUFFER_BYTES);
                JsonParser json = new JsonFactory().createParser(in)) {
            trace = new TraceReader(json).trace();
        }
        try {
            if (!trace.textAfter(trace.transactions().size()).equals(TextBuffer.of(trace.endContent()))) {
                throw new IOException(file + ": its transactions do not produce its endContent");
            }
        } catch (IndexOutOfBoundsException outside) {
            throw new IOException(file + ": a patch is outside the text", outside);
        }
        return trace;
    }

    private Trace trace() throws IOException {
        expect(json.nextToken(), JsonToken.START_OBJECT);
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String field = json.currentName();
            json.nextToken();
            switch (field) {
                case "startContent" -> startContent = json.getText();
                case "endContent" -> endContent = json.getText();
                case "txns" -> readTransactions();
                default -> json.skipChildren();
            }
        }
        return new Trace(startContent, endContent, transactions);
    }

    private void readTransactions() throws IOException {
        expect(json.currentToken(), JsonToken.START_ARRAY);
        while (json.nextToken() == JsonToken.START_OBJECT) {
            transactions.add(transaction());
        }
    }

    private List<Patch> transaction() throws IOException {
        List<Patch> patches = new ArrayList<>();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String field = json.currentName();
            json.nextToken();
            if (!field.equals("patches")) {
                json.skipChildren();
                continue;
            }
            while (json.nextToken() == JsonToken.START_ARRAY) {
                patches.add(patch());
            }
        }
        return List.copyOf(patches);
    }

    private Patch patch() throws IOException {
        int position = number();
        int deleted = number();
        expect(json.nextToken(), JsonToken.VALUE_STRING);
        int[] inserted = json.getText().codePoints().toArray();
        expect(json.nextToken(), JsonToken.END_ARRAY);
        return new Patch(position, deleted, inserted);
    }

    private int number() throws IOException {
        expect(json.nextToken(), JsonToken.VALUE_NUMBER_INT);
        return json.getIntValue();
    }

    private void expect(JsonToken is, JsonToken should) throws IOException {
        if (is != should) {
            throw new IOException("not a recorded editing session: expected " + should + " at "
                    + json.currentLocation().offsetDescription() + ", found " + is);
        }
    }
}
