package io.caravan.server.config;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A host, without brackets, and a port, such as {@code localhost:6380} or {@code [::1]:6380}. */
public record HostPort(String host, int port) {
    private static final int MAX_PORT = 65_535;

    /**
     * Parses an address; throws {@link IllegalArgumentException} if the text is none. The message omits the user
     * information, which may contain a password.
     */
    public static HostPort parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.contains(":")) {
            host = "";
        }
        int port = port(text.substring(colon + 1));
        if (host.isEmpty() || host.contains("@") || port < 0) {
            throw new IllegalArgumentException("'" + withoutUser(text)
                    + "' is not HOST:PORT, such as 127.0.0.1:6380 or [::1]:6380, with a port up to " + MAX_PORT);
        }
        return new HostPort(host, port);
    }

    /** Returns the text of an invalid address or URL, for messages, without a user and a password. */
    public static String withoutUser(String text) {
        return text.replaceFirst("(?s).*@", "(hidden)@");
    }

    private static int port(String text) {
        boolean number = text.matches("[0-9]{1,5}");
        int port = number ? Integer.parseInt(text) : -1;
        return port <= MAX_PORT ? port : -1;
    }

    public InetSocketAddress resolve() throws IOException {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException unknown) {
            throw new IOException("the host '" + host + "' is not known", unknown);
        }
    }

    /** Returns the address in the form that {@link #parse} accepts. */
    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    /** Returns the address in the form that Redis and its clients use, without brackets around an IPv6 address. */
    public String unbracketed() {
        return host + ":" + port;
    }

    /** Formats an Internet address in the form that {@link #parse} accepts, and any other address as a string. */
    public static String format(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress internet
                ? new HostPort(internet.getAddress().getHostAddress(), internet.getPort()).toString()
                : String.valueOf(address);
    }

    /** Converts option values to addresses. */
    public static final class Converter implements ITypeConverter<HostPort> {
        @Override
        public HostPort convert(String text) {
            try {
                return parse(text);
            } catch (IllegalArgumentException wrong) {
                throw new TypeConversionException(String.valueOf(wrong.getMessage()));
            }
        }
    }
}
