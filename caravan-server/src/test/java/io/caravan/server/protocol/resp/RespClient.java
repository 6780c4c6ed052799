package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

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

    /** Uses a socket that is connected. */
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

    public void send(String... words) throws IOException {
        byte[][] bytes = new byte[words.length][];
        for (int i = 0; i < words.length; i++) {
            bytes[i] = words[i].getBytes(UTF_8);
        }
        sendRaw(encode(bytes));
    }

    public static byte[] encode(byte[]... words) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(("*" + words.length + "\r\n").getBytes(UTF_8));
        for (byte[] word : words) {
            out.write(("$" + word.length + "\r\n").getBytes(UTF_8));
            out.write(word);
            out.write("\r\n".getBytes(UTF_8));
        }
        return out.toByteArray();
    }

    public void sendRaw(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    public void sendRaw(byte[] bytes, int from, int to) throws IOException {
        socket.getOutputStream().write(bytes, from, to - from);
    }

    /** Ends the client's sending, so that the server reads the end of the stream. */
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
