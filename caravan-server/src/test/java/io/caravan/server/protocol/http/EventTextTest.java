package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests text in event streams. Clients decode each event alone, although a character may extend over two values. */
class EventTextTest {
    private static final String PATH = "/v1/stream/text";
    private static final byte[] EURO = "\u20ac".getBytes(UTF_8);
    private static final Pattern EVENTS = Pattern.compile("event: data\n"
            + "((?:data:[^\n"
            + "]*\n"
            + ")+)\n"
            + "event: control\n"
            + "data:\\{\"streamNextOffset\":\"(?<next>[0-9_]+)\"[^\n"
            + "]*\n\n");

    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        server = HttpFixture.serving();
        server.create(PATH, "text/plain");
    }

    private void append(byte[]... values) throws Exception {
        try (RawClient client = server.raw()) {
            for (byte[] value : values) {
                client.send(RawClient.post(PATH, new String(value, ISO_8859_1)));
                assertThat(client.read().status()).isEqualTo(204);
            }
        }
    }

    private void close() throws Exception {
        assertThat(server.status("POST", PATH, null, "Stream-Closed", "true")).isEqualTo(204);
    }

    private RawClient listen(String offset) throws Exception {
        RawClient client = server.raw();
        client.send(RawClient.get(PATH + "?live=sse&offset=" + offset));
        client.head();
        return client;
    }

    /** The text bytes of an event, and the offset of the next event. */
    private record Event(byte[] text, String next) {}

    private List<Event> events(String offset) throws Exception {
        StringBuilder all = new StringBuilder();
        try (RawClient client = listen(offset)) {
            for (String chunk = client.chunk(); !chunk.isEmpty(); chunk = client.chunk()) {
                all.append(chunk);
            }
        }
        List<Event> events = new ArrayList<>();
        Matcher found = EVENTS.matcher(all);
        while (found.find()) {
            String data =
                    found.group(1).substring("data:".length(), found.group(1).length() - 1);
            events.add(new Event(data.getBytes(ISO_8859_1), found.group("next")));
        }
        return events;
    }

    private static String text(byte[] bytes) throws CharacterCodingException {
        return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    }

    @Test
    void joinsCharacterSplitAcrossTwoValues() throws Exception {
        try (RawClient client = listen("now")) {
            assertThat(client.chunk()).contains("\"upToDate\":true");
            append(new byte[] {'a', EURO[0], EURO[1]});
            append(new byte[] {EURO[2], 'b'});
            assertThat(client.chunk())
                    .startsWith("event: data\ndata:a" + new String(EURO, ISO_8859_1) + "b\n\n")
                    .contains(Offset.of(2), "\"upToDate\":true");
        }
    }

    @Test
    void sendsIncompleteCharacterWhenStreamIsClosed() throws Exception {
        append(new byte[] {'a'}, new byte[] {EURO[0], EURO[1]});
        try (RawClient client = listen("-1")) {
            assertThat(client.chunk())
                    .startsWith("event: data\ndata:a\n\n")
                    .contains(Offset.of(1), "\"upToDate\":true");
            close();
            assertThat(client.chunk())
                    .startsWith("event: data\ndata:\u00e2\u0082\n\n")
                    .contains(Offset.of(2), "\"streamClosed\":true");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void textSplitAnywhereArrivesIntact(long seed) throws Exception {
        Random random = new Random(seed);
        int[] letters = {'a', 'z', 0xe9, 0x416, 0x20ac, 0x4e2d, 0x1f600};
        StringBuilder text = new StringBuilder();
        while (text.length() < 100_000) {
            text.appendCodePoint(letters[random.nextInt(letters.length)]);
        }
        byte[] bytes = text.toString().getBytes(UTF_8);
        int longest = seed % 2 == 0 ? 40_000 : 3_000;
        List<byte[]> values = new ArrayList<>();
        for (int from = 0; from < bytes.length; ) {
            int to = Math.min(bytes.length, from + 1 + random.nextInt(longest));
            values.add(Arrays.copyOfRange(bytes, from, to));
            from = to;
        }
        append(values.toArray(byte[][]::new));
        close();
        List<Event> events = events("-1");
        assertThat(events.size()).isGreaterThan(1);
        StringBuilder received = new StringBuilder();
        for (Event event : events) {
            received.append(text(event.text()));
        }
        assertThat(received.toString()).isEqualTo(text.toString());
        // A client that reconnects continues with complete characters.
        String first = text(events.get(0).text());
        StringBuilder rest = new StringBuilder(first);
        for (Event event : events(events.get(0).next())) {
            rest.append(text(event.text()));
        }
        assertThat(rest.toString()).isEqualTo(text.toString());
    }

    @Test
    void sendsAllBytesOfInvalidText() throws Exception {
        byte[] value = new byte[30_000];
        Arrays.fill(value, EURO[0]);
        append(value, value, value, value);
        close();
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        events("-1").forEach(event -> received.writeBytes(event.text()));
        assertThat(received.size()).isEqualTo(4 * value.length);
    }
}
