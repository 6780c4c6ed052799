package io.caravan.torture.replay;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.caravan.torture.replay.Trace.Patch;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;

/**
 * Generates editing sessions from a seed, with characters of every length in UTF-8 and UTF-16. It keeps the text as a
 * list of code points, which is slow but obviously correct.
 */
final class TraceGenerator {
    private static final String[] ALPHABET = {"a", "e", " ", "\n", "ä", "€", "漢", "😀", "𝄞", "𠜎"};

    private final SplittableRandom random;
    private final List<Integer> text = new ArrayList<>();

    private TraceGenerator(long seed) {
        random = new SplittableRandom(seed);
    }

    static Trace generate(long seed, int transactions) {
        TraceGenerator generator = new TraceGenerator(seed);
        List<List<Patch>> all = new ArrayList<>();
        for (int i = 0; i < transactions; i++) {
            all.add(generator.transaction());
        }
        return new Trace("", generator.content(), all);
    }

    /** Writes the trace in the reader's format, with additional fields that the reader must skip. */
    static void write(Trace trace, Path file) throws IOException {
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file));
                JsonGenerator json = new JsonFactory().createGenerator(out)) {
            json.writeStartObject();
            json.writeStringField("startContent", trace.startContent());
            json.writeStringField("endContent", trace.endContent());
            json.writeArrayFieldStart("txns");
            for (List<Patch> patches : trace.transactions()) {
                json.writeStartObject();
                json.writeStringField("time", "2020-01-01T00:00:00Z");
                json.writeArrayFieldStart("patches");
                for (Patch patch : patches) {
                    json.writeStartArray();
                    json.writeNumber(patch.position());
                    json.writeNumber(patch.deleted());
                    json.writeString(new String(patch.inserted(), 0, patch.inserted().length));
                    json.writeEndArray();
                }
                json.writeEndArray();
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("more");
            json.writeEndArray();
            json.writeEndObject();
        }
    }

    private List<Patch> transaction() {
        List<Patch> patches = new ArrayList<>();
        for (int left = 1 + random.nextInt(3); left > 0; left--) {
            patches.add(patch());
        }
        return patches;
    }

    private Patch patch() {
        int position = random.nextInt(text.size() + 1);
        int deleted = random.nextInt(4) == 0 ? random.nextInt(Math.min(5, text.size() - position + 1)) : 0;
        int[] inserted = inserted();
        text.subList(position, position + deleted).clear();
        for (int i = 0; i < inserted.length; i++) {
            text.add(position + i, inserted[i]);
        }
        return new Patch(position, deleted, inserted);
    }

    private int[] inserted() {
        StringBuilder inserted = new StringBuilder();
        for (int left = random.nextInt(4); left > 0; left--) {
            inserted.append(ALPHABET[random.nextInt(ALPHABET.length)]);
        }
        return inserted.codePoints().toArray();
    }

    private String content() {
        StringBuilder content = new StringBuilder();
        text.forEach(content::appendCodePoint);
        return content.toString();
    }
}
