package io.caravan.server.security;

/** Its credentials never change. */
final class FixedAuthenticator extends CredentialsAuthenticator {
    private final Credentials credentials;

    FixedAuthenticator(Credentials credentials) {
        this.credentials = credentials;
    }

    @Override
    Credentials credentials() {
        return credentials;
    }
}
