package io.caravan.server.cli.common;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Writes results as lines of text, as bytes, or as lines of JSON. Buffers them until {@link #flush}. */
public final class Output implements Closeable {
    private static final int BUFFER_BYTES = 64 * 1024;

    private final OutputStream out;
    private final JsonGenerator json;
    private final boolean asJson;

    /** Thrown if the output cannot be written. */
    private static class WriteException extends IOException {
        private static final long serialVersionUID = 1L;

        private WriteException(IOException problem) {
            super("the output cannot be written: " + problem.getMessage(), problem);
        }
    }

    /** Thrown if the reader has closed the output. */
    public static final class ClosedException extends WriteException {
        private static final long serialVersionUID = 1L;

        private ClosedException(IOException cause) {
            super(cause);
        }
    }

    public interface Writing {
        void write() throws IOException;
    }

    /**
     * Runs an action, and converts its checked exceptions to unchecked ones.
     *
     * @throws UncheckedIOException instead of an {@link IOException}
     */
    public static void unchecked(Writing writing) {
        try {
            writing.write();
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }

    /**
     * Creates an output.
     *
     * @param asJson whether {@link #print} writes JSON
     */
    public Output(OutputStream to, boolean asJson) throws IOException {
        this.asJson = asJson;
        out = new BufferedOutputStream(new CheckedStream(to), BUFFER_BYTES);
        json = new JsonFactory()
                .disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)
                .disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM)
                .enable(JsonGenerator.Feature.WRITE_BIGDECIMAL_AS_PLAIN)
                .createGenerator(out)
                .setPrettyPrinter(new MinimalPrettyPrinter(""));
    }

    /** Writes one result, as text or as a JSON object with the entries of a map or the components of a record. */
    public void print(String text, Object fields) throws IOException {
        if (asJson) {
            object(fields);
        } else {
            line(text);
        }
    }

    public void line(String text) throws IOException {
        line(text.getBytes(UTF_8));
    }

    public void line(byte[] bytes) throws IOException {
        bytes(bytes);
        out.write('\n');
    }

    public void bytes(byte[] bytes) throws IOException {
        out.write(bytes);
    }

    /**
     * Returns the fields of an object, in this order.
     *
     * @param parts names, each followed by its value, and records or maps, whose components or entries are added
     */
    public static Map<String, @Nullable Object> fields(@Nullable Object... parts) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < parts.length; i++) {
            if (parts[i] instanceof String name) {
                i++;
                fields.put(name, parts[i]);
            } else {
                entries(Objects.requireNonNull(parts[i]))
                        .forEach((name, value) -> fields.put(String.valueOf(name), value));
            }
        }
        return fields;
    }

    private static Map<?, ?> entries(Object fields) {
        return fields instanceof Map<?, ?> map ? map : Mapper.JSON.convertValue(fields, LinkedHashMap.class);
    }

    /** Writes the entries of a map, or the components of a record, as one object. */
    public void object(Object fields) throws IOException {
        write(entries(fields));
        json.flush();
        out.write('\n');
    }

    private void write(@Nullable Object value) throws IOException {
        if (value instanceof Record || value instanceof Map) {
            json.writeStartObject();
            for (Map.Entry<?, ?> field : entries(value).entrySet()) {
                json.writeFieldName(String.valueOf(field.getKey()));
                write(field.getValue());
            }
            json.writeEndObject();
        } else if (value instanceof Iterable<?> elements) {
            json.writeStartArray();
            for (Object element : elements) {
                write(element);
            }
            json.writeEndArray();
        } else {
            json.writeObject(value);
        }
    }

    /** Creates the mapper on first use, because it takes longer than the start of most commands. */
    private static final class Mapper {
        static final ObjectMapper JSON = new ObjectMapper();
    }

    /** Returns a field with bytes as text or, if they are not valid UTF-8, another field with them in Base64. */
    public static Map<String, Object> textOrBase64(String textField, String base64Field, byte[] bytes) {
        String text = decode(bytes);
        return text == null ? Map.of(base64Field, bytes) : Map.of(textField, text);
    }

    private static @Nullable String decode(byte[] bytes) {
        try {
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException noText) {
            return null;
        }
    }

    /** Returns the buffered stream to which the results are written. */
    public OutputStream stream() {
        return out;
    }

    public void flush() throws IOException {
        out.flush();
    }

    @Override
    public void close() throws IOException {
        flush();
    }

    /** A stream that marks its exceptions as failures of the output. After a failure, each later use also fails. */
    private static final class CheckedStream extends OutputStream {
        private final OutputStream to;
        private @Nullable IOException failure;

        CheckedStream(OutputStream to) {
            this.to = to;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            run(() -> to.write(bytes, offset, length));
        }

        @Override
        public void flush() throws IOException {
            run(to::flush);
        }

        @Override
        public void close() throws IOException {
            run(to::close);
        }

        private void run(Writing writing) throws IOException {
            if (failure != null) {
                throw described(failure);
            }
            try {
                writing.write();
            } catch (IOException problem) {
                failure = problem;
                throw described(problem);
            }
        }

        private static WriteException described(IOException problem) {
            // Java reports the system error only as localized text, which always contains this word.
            boolean closed = String.valueOf(problem.getMessage())
                    .toLowerCase(Locale.ROOT)
                    .contains("pipe");
            return closed ? new ClosedException(problem) : new WriteException(problem);
        }
    }
}
