package io.caravan.server.security;

/** No authentication is configured: everybody may do everything, whatever secret they show. */
enum OpenAuthenticator implements Authenticator {
    INSTANCE;

    @Override
    public boolean required() {
        return false;
    }

    @Override
    public Principal authenticate(byte[] secret) {
        return Principal.ANYONE;
    }

    @Override
    public Principal authenticate(String user, byte[] secret) {
        return Principal.ANYONE;
    }
}
