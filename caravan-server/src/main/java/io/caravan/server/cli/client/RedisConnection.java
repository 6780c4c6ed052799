package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.CodecException;
import io.netty.handler.codec.redis.ArrayHeaderRedisMessage;
import io.netty.handler.codec.redis.BulkStringHeaderRedisMessage;
import io.netty.handler.codec.redis.BulkStringRedisContent;
import io.netty.handler.codec.redis.ErrorRedisMessage;
import io.netty.handler.codec.redis.FixedRedisMessagePool;
import io.netty.handler.codec.redis.FullBulkStringRedisMessage;
import io.netty.handler.codec.redis.IntegerRedisMessage;
import io.netty.handler.codec.redis.LastBulkStringRedisContent;
import io.netty.handler.codec.redis.RedisDecoder;
import io.netty.handler.codec.redis.SimpleStringRedisMessage;
import io.netty.util.ReferenceCountUtil;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a Redis server, which is not trusted. The parts of replies are received in the order of the requests,
 * and each is checked for its expected type. Memory holds about 64 KiB of a reply, or one value, whose maximum length
 * the caller sets. Not thread-safe.
 *
 * <p>An error that is returned as {@link #NO_LIST} concerns only its request; after an exception, the connection is
 * unusable.
 */
public final class RedisConnection implements AutoCloseable {
    /** Returned instead of a number if the key is not a list. */
    public static final long NO_LIST = Long.MIN_VALUE;

    private static final int CHUNK_BYTES = 64 * 1024;
    private static final int MAX_LINE_BYTES = 4096;
    private static final int KEPT_BYTES = 64;
    /**
     * The maximum number of bytes that do not complete a part of a reply. More bytes must be a line without an end,
     * because strings are decoded in pieces as they are received.
     */
    private static final int MAX_BYTES_OF_NOTHING = 2 * CHUNK_BYTES;

    private final RedisAddress address;
    private final int timeoutSeconds;
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final EmbeddedChannel decoder =
            new EmbeddedChannel(new RedisDecoder(MAX_LINE_BYTES, FixedRedisMessagePool.INSTANCE));
    private final byte[] chunk = new byte[CHUNK_BYTES];

    /**
     * A byte string.
     *
     * @param length the length of the string
     * @param bytes the entire string, or its start if it exceeds the requested maximum
     */
    public record Bulk(long length, byte[] bytes) {
        public boolean isWhole() {
            return length == bytes.length;
        }
    }

    private RedisConnection(RedisAddress address, int timeoutSeconds, Socket socket) throws IOException {
        this.address = address;
        this.timeoutSeconds = timeoutSeconds;
        this.socket = socket;
        this.in = socket.getInputStream();
        this.out = new BufferedOutputStream(socket.getOutputStream());
    }

    /**
     * Connects and logs in.
     *
     * @param tls the socket factory, or null to connect without TLS
     * @throws ServerConnection.LostException if the server cannot be reached, or does not reply in time
     * @throws ClientException if the server rejects the user or the database
     */
    static RedisConnection open(RedisAddress address, @Nullable SSLSocketFactory tls, int timeoutSeconds) {
        Socket socket = new Socket();
        try {
            int millis = (int) TimeUnit.SECONDS.toMillis(timeoutSeconds);
            InetSocketAddress resolved = address.address().resolve();
            socket.connect(resolved, millis);
            socket.setSoTimeout(millis);
            socket.setTcpNoDelay(true);
            RedisConnection connection =
                    new RedisConnection(address, timeoutSeconds, tls == null ? socket : secured(socket, tls, address));
            connection.logIn();
            return connection;
        } catch (IOException failed) {
            closeQuietly(socket);
            throw lost(address, timeoutSeconds, failed);
        } catch (ClientException | ServerConnection.LostException refused) {
            closeQuietly(socket);
            throw refused;
        }
    }

    private static SSLSocket secured(Socket socket, SSLSocketFactory tls, RedisAddress address) throws IOException {
        SSLSocket secured = (SSLSocket) tls.createSocket(
                socket, address.address().host(), address.address().port(), true);
        SSLParameters parameters = secured.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secured.setSSLParameters(parameters);
        secured.startHandshake();
        return secured;
    }

    private void logIn() {
        String password = address.password();
        if (password != null) {
            String user = address.user();
            if (user == null) {
                send("AUTH", bytes(password));
            } else {
                send("AUTH", bytes(user), bytes(password));
            }
            text();
        }
        if (address.database() != 0) {
            send("SELECT", bytes(String.valueOf(address.database())));
            text();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    /** Sends a request, or buffers it until the next wait for a reply. */
    public void send(String command, byte[]... words) {
        try {
            out.write(("*" + (words.length + 1) + "\r\n").getBytes(US_ASCII));
            write(bytes(command));
            for (byte[] word : words) {
                write(word);
            }
        } catch (IOException failed) {
            throw lost(address, timeoutSeconds, failed);
        }
    }

    private void write(byte[] word) throws IOException {
        out.write(("$" + word.length + "\r\n").getBytes(US_ASCII));
        out.write(word);
        out.write('\r');
        out.write('\n');
    }

    /** Receives a number; returns {@link #NO_LIST} if the key is not a list. */
    public long integer() {
        Object part = next();
        if (isNoList(part)) {
            return NO_LIST;
        }
        if (part instanceof IntegerRedisMessage number) {
            return number.value();
        }
        throw unexpected("a number", part);
    }

    /** Receives a short text. */
    public String text() {
        Object part = next();
        if (part instanceof SimpleStringRedisMessage text) {
            return text.content();
        }
        throw unexpected("a text", part);
    }

    /**
     * Receives the header of an array, whose elements follow.
     *
     * @param most the maximum number of elements
     * @return the number of elements; -1 for a null array; {@link #NO_LIST} if the key is not a list
     */
    public long array(long most) {
        Object part = next();
        if (isNoList(part)) {
            return NO_LIST;
        }
        if (part instanceof ArrayHeaderRedisMessage array) {
            if (array.length() > most) {
                throw ClientException.failed(
                        address + " has answered with " + array.length() + " parts where it was asked for " + most);
            }
            return array.isNull() ? -1 : array.length();
        }
        throw unexpected("an array", part);
    }

    /** Receives a byte string, of which only the start is kept if it exceeds the maximum. */
    public Bulk bulk(int maxBytes) {
        Object part = next();
        if (part instanceof FullBulkStringRedisMessage whole && !whole.isNull()) {
            // Every string that is not empty arrives in pieces.
            whole.release();
            return new Bulk(0, new byte[0]);
        }
        if (!(part instanceof BulkStringHeaderRedisMessage header)) {
            throw unexpected("a string", part);
        }
        int length = header.bulkStringLength();
        byte[] bytes = new byte[length <= maxBytes ? length : Math.min(length, Math.min(KEPT_BYTES, maxBytes))];
        int at = 0;
        boolean last = false;
        while (!last) {
            Object piece = next();
            if (!(piece instanceof BulkStringRedisContent content)) {
                throw unexpected("the rest of a string", piece);
            }
            ByteBuf more = content.content();
            int kept = Math.min(more.readableBytes(), bytes.length - at);
            more.readBytes(bytes, at, kept);
            at += kept;
            last = piece instanceof LastBulkStringRedisContent;
            content.release();
        }
        return new Bulk(length, bytes);
    }

    private static boolean isNoList(Object part) {
        return part instanceof ErrorRedisMessage error && error.content().startsWith("WRONGTYPE");
    }

    private RuntimeException unexpected(String wanted, Object part) {
        if (part instanceof ErrorRedisMessage error) {
            return ClientException.failed(address + " refuses: " + error.content() + advice(error.content()));
        }
        ReferenceCountUtil.release(part);
        return ClientException.failed(address + " has not answered with " + wanted + " as Redis does");
    }

    private static String advice(String error) {
        return error.startsWith("NOAUTH") || error.startsWith("WRONGPASS")
                ? "; give the password in the environment variable CARAVAN_FROM_PASSWORD or with --from-password-file FILE,"
                        + " and the user in the URL"
                : "";
    }

    private Object next() {
        try {
            Object part = decoder.readInbound();
            int bytes = 0;
            while (part == null) {
                if (bytes > MAX_BYTES_OF_NOTHING) {
                    throw new CodecException("a line does not end");
                }
                out.flush();
                int read = in.read(chunk);
                if (read < 0) {
                    throw new IOException("it closed the connection");
                }
                decoder.writeInbound(Unpooled.copiedBuffer(chunk, 0, read));
                part = decoder.readInbound();
                bytes += read;
            }
            return part;
        } catch (IOException failed) {
            throw lost(address, timeoutSeconds, failed);
        } catch (CodecException hostile) {
            Throwable cause = hostile.getCause() == null ? hostile : hostile.getCause();
            throw ClientException.failed(address + " does not answer as Redis does: " + cause.getMessage(), hostile);
        }
    }

    private static ServerConnection.LostException lost(RedisAddress address, int timeoutSeconds, IOException failed) {
        String what;
        if (failed instanceof SocketTimeoutException) {
            what = " has not answered for " + timeoutSeconds + " s; if it is just slow, raise --timeout";
        } else if (failed instanceof SSLException) {
            what = ": TLS failed: " + failed.getMessage()
                    + "; does it speak TLS there, and does --from-tls-ca name the authority of its certificate?";
        } else {
            what = ": the connection failed: " + failed.getMessage()
                    + "; when it can be reached, run the import again, which goes on";
        }
        return new ServerConnection.LostException(address + what, failed);
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException alreadyGone) {
            // The socket is closed anyway.
        }
    }

    @Override
    public void close() {
        closeQuietly(socket);
        decoder.finishAndReleaseAll();
    }
}
