package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Eventually;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A blocking client that returns replies as text: {@code +OK}, {@code -ERR ...}, {@code :1}, {@code $value},
 * {@code null}, {@code [:1, $value]}, {@code nullarray}; in RESP 3 {@code _}, {@code #t}, {@code =txt:text},
 * <code>{$name: :1}</code>, {@code ~[:1]}.
 */
public final class RespClient implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 20_000;

    private final Socket socket;
    private final InputStream in;

    public RespClient(InetSocketAddress address) throws IOException {
        this(address, 1 << 18);
    }

    /**
     * Connects to a server.
     *
     * @param receiveBytes the approximate size of the socket's receive buffer
     */
    public RespClient(InetSocketAddress address, int receiveBytes) throws IOException {
        this(connected(address, receiveBytes));
    }

    /** Creates a client on a connected socket. */
    public RespClient(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
    }

    private static Socket connected(InetSocketAddress address, int receiveBytes) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(receiveBytes);
        socket.connect(address);
        return socket;
    }

    /** Sends a command and returns its reply. */
    public String call(String... words) throws IOException {
        send(words);
        return read();
    }

    /** Sends a command and checks that it gets the expected reply. */
    public void replies(String expected, String... words) throws IOException {
        assertThat(call(words)).as(String.join(" ", words)).isEqualTo(expected);
    }

    /** Sends a command and checks that its reply is an error that starts with {@code expectedStart}. */
    public void fails(String expectedStart, String... words) throws IOException {
        assertThat(call(words)).as(String.join(" ", words)).startsWith("-" + expectedStart);
    }

    /** Reads the next replies and checks them. */
    public void reads(String... expected) throws IOException {
        for (String each : expected) {
            assertThat(read()).isEqualTo(each);
        }
    }

    /** Reads the next replies and checks that they are the numbers from {@code first} to {@code last}. */
    public void readsNumbers(int first, int last) throws IOException {
        for (int i = first; i <= last; i++) {
            reads(":" + i);
        }
    }

    /** Sends a command repeatedly until its reply matches, and fails after a timeout. */
    public void await(Predicate<String> fits, String... words) {
        AtomicReference<String> last = new AtomicReference<>();
        Eventually.await(() -> String.join(" ", words) + " gets the expected reply; the last one was " + last, () -> {
            try {
                last.set(call(words));
            } catch (IOException broken) {
                throw new UncheckedIOException(broken);
            }
            return fits.test(last.get());
        });
    }

    public void send(String... words) throws IOException {
        sendRaw(encode(words));
    }

    public static byte[] encode(String... words) {
        return encode(Stream.of(words).map(word -> word.getBytes(UTF_8)).toArray(byte[][]::new));
    }

    public static byte[] encode(byte[]... words) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(("*" + words.length + "\r\n").getBytes(UTF_8));
        for (byte[] word : words) {
            out.writeBytes(("$" + word.length + "\r\n").getBytes(UTF_8));
            out.writeBytes(word);
            out.writeBytes("\r\n".getBytes(UTF_8));
        }
        return out.toByteArray();
    }

    public void sendRaw(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    public void sendRaw(byte[] bytes, int from, int to) throws IOException {
        socket.getOutputStream().write(bytes, from, to - from);
    }

    /** Shuts down the client's output, so that the server reads the end of the stream. */
    void finishSending() throws IOException {
        socket.shutdownOutput();
    }

    /** Reads one reply. */
    public String read() throws IOException {
        String line = readLine();
        char type = line.charAt(0);
        return switch (type) {
            case '$' -> bulk("$", Integer.parseInt(line.substring(1)));
            case '=' -> bulk("=", Integer.parseInt(line.substring(1)));
            case '*' -> array(Integer.parseInt(line.substring(1)));
            case '>' -> ">" + array(Integer.parseInt(line.substring(1)));
            case '~' -> "~" + array(Integer.parseInt(line.substring(1)));
            case '%' -> map(Integer.parseInt(line.substring(1)));
            default -> line;
        };
    }

    private String bulk(String type, int length) throws IOException {
        if (length < 0) {
            return "null";
        }
        byte[] bytes = in.readNBytes(length + 2);
        if (bytes.length < length + 2) {
            throw new EOFException("in a bulk string of " + length);
        }
        return type + new String(bytes, 0, length, UTF_8);
    }

    private String map(int size) throws IOException {
        List<String> entries = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            entries.add(read() + ": " + read());
        }
        return "{" + String.join(", ", entries) + "}";
    }

    private String array(int length) throws IOException {
        if (length < 0) {
            return "nullarray";
        }
        List<String> elements = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            elements.add(read());
        }
        return elements.toString();
    }

    private String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\r'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("after '" + line + "'");
            }
            line.write(b);
        }
        in.read();
        return line.toString(UTF_8);
    }

    /** Reads {@code length} bytes and returns them unchanged. */
    byte[] readRaw(int length) throws IOException {
        return in.readNBytes(length);
    }

    /** Whether unread bytes have arrived. */
    boolean hasInput() throws IOException {
        return in.available() > 0;
    }

    /** Waits until the server closes the connection. Returns false if more bytes arrive first. */
    public boolean atEnd() throws IOException {
        return in.read() < 0;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
