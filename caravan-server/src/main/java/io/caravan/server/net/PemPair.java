package io.caravan.server.net;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.interfaces.RSAKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A certificate and its private key, which are read from PEM files and verified to match. During a renewal, one file
 * may be new while the other is still old; with such a pair, every handshake would fail.
 */
public final class PemPair {
    private static final Pattern KEY =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");
    private static final byte[] SAMPLE = "does the key belong to the certificate?".getBytes(US_ASCII);

    private final byte[] certificate;
    private final byte[] key;

    private PemPair(byte[] certificate, byte[] key) {
        this.certificate = certificate;
        this.key = key;
    }

    /**
     * Reads a certificate, followed by the intermediate certificates, and its key, in PKCS #8 without a password.
     * Throws {@link IOException} if the files cannot be read, are invalid, or do not match.
     */
    public static PemPair read(Path certificate, Path key) throws IOException {
        requireReadable(certificate);
        requireReadable(key);
        PemPair pair = new PemPair(Files.readAllBytes(certificate), Files.readAllBytes(key));
        try {
            if (!pair.belongTogether()) {
                throw new GeneralSecurityException("the key is that of another certificate");
            }
        } catch (GeneralSecurityException | IllegalArgumentException wrong) {
            throw new IOException(unusable(certificate, key, wrong), wrong);
        }
        return pair;
    }

    static void requireReadable(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new IOException("cannot read " + file + ", which TLS needs: it is a directory");
        }
        if (!Files.isReadable(file)) {
            throw new IOException(
                    "cannot read " + file + ", which TLS needs: it does not exist, or this process lacks permission");
        }
    }

    /** Returns the error message for a certificate and key that cannot be used. */
    static String unusable(Path certificate, Path key, Exception why) {
        return "the certificate in " + certificate + " and the key in " + key
                + " cannot be used (both must be PEM and belong together, the key in PKCS #8 without a password): "
                + why.getMessage();
    }

    InputStream certificate() {
        return new ByteArrayInputStream(certificate);
    }

    InputStream key() {
        return new ByteArrayInputStream(key);
    }

    private boolean belongTogether() throws GeneralSecurityException {
        PublicKey open = CertificateFactory.getInstance("X.509")
                .generateCertificate(certificate())
                .getPublicKey();
        Matcher pem = KEY.matcher(new String(key, US_ASCII));
        if (!pem.find()) {
            throw new GeneralSecurityException("there is no BEGIN PRIVATE KEY in the key's file");
        }
        PrivateKey secret = KeyFactory.getInstance(open.getAlgorithm())
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1))));
        if (open instanceof RSAKey one && secret instanceof RSAKey other) {
            return one.getModulus().equals(other.getModulus());
        }
        Signature signature = Signature.getInstance("EC".equals(open.getAlgorithm()) ? "SHA256withECDSA" : "EdDSA");
        signature.initSign(secret);
        signature.update(SAMPLE);
        byte[] signed = signature.sign();
        signature.initVerify(open);
        signature.update(SAMPLE);
        return signature.verify(signed);
    }
}
