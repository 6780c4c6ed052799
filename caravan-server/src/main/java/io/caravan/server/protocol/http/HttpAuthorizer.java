package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/** Checks the bearer token of a request, and whether the client is authorized to make the request. */
public record HttpAuthorizer(Authenticator authenticator) {
    private static final String SCHEME = "Bearer ";
    private static final String CHALLENGE = "Bearer realm=\"caravan\"";

    /** The last valid token of a connection, so that a client's later requests need no cryptographic hash of it. */
    static final class LastToken {
        private byte[] token = {};
        private @Nullable Principal owner;
    }

    /** Whether clients need a token. */
    public boolean closed() {
        return authenticator.required();
    }

    /**
     * Returns the principal of the client if the client may use the route. Routes that require no permission are open
     * to all clients, but may return more data to clients with a token. Throws {@link Problem} if the client has no
     * valid token or lacks the permission.
     */
    Principal check(Route route, String path, HttpHeaders headers, SocketAddress peer, LastToken last) {
        if (!authenticator.required()) {
            return Principal.ANYONE;
        }
        Principal principal = principal(headers.get(HttpHeaderNames.AUTHORIZATION), peer, last);
        Permission permission = route.permission();
        if (permission == null) {
            return principal == null ? Principal.ANONYMOUS : principal;
        }
        if (principal == null) {
            throw unauthorized("send a valid token: Authorization: Bearer <token>");
        }
        if (route.aboutDocument()) {
            checkDocument(principal, permission, StreamName.of(route.rest(path)));
        } else if (!principal.may(permission)) {
            throw forbidden(principal, permission, "");
        }
        return principal;
    }

    /**
     * Throws {@link Problem} if the client's token was revoked. The check also applies to responses in progress: a
     * client with a revoked token does not receive the rest of a response.
     */
    public static void checkStillKnown(Principal principal) {
        if (principal.revoked()) {
            throw unauthorized("the token was revoked");
        }
    }

    /** Throws {@link Problem} if the client lacks this permission on the document. */
    public static void checkDocument(Principal principal, Permission permission, DocumentName name) {
        if (!principal.may(permission, name)) {
            throw forbidden(principal, permission, " on document '" + name + "'");
        }
    }

    /** Returns the owner of the token, or null if the token is absent or unknown. */
    private @Nullable Principal principal(@Nullable String authorization, SocketAddress peer, LastToken last) {
        if (authorization == null || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            return null;
        }
        byte[] token = authorization.substring(SCHEME.length()).strip().getBytes(StandardCharsets.UTF_8);
        // A proxy may send the requests of several clients over one connection, so the comparison takes constant time.
        if (last.owner != null && !last.owner.revoked() && MessageDigest.isEqual(token, last.token)) {
            return last.owner;
        }
        Principal owner = authenticator.authenticate(peer, Authenticator.DEFAULT_USER, token);
        if (owner != null) {
            last.token = token;
            last.owner = owner;
        }
        return owner;
    }

    private static Problem unauthorized(String detail) {
        return new Problem(401, "unauthorized", detail).with("WWW-Authenticate", CHALLENGE);
    }

    private static Problem forbidden(Principal principal, Permission permission, String where) {
        return new Problem(403, "forbidden", principal.name() + " lacks permission " + permission + where);
    }
}
