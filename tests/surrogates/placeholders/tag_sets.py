"""The names of tags that tools and corpora use, by where they come from."""

from __future__ import annotations

from typing import Final

TAG_SETS: Final[dict[str, list[str]]] = {
    "presidio-analyzer": (
        "CREDIT_CARD; CRYPTO; DATE_TIME; EMAIL_ADDRESS; IBAN_CODE; IP_ADDRESS; MAC_ADDRESS; NRP; LOCATION; PERSON; PHONE_NUMBER; "
        "MEDICAL_LICENSE; URL; US_BANK_NUMBER; US_DRIVER_LICENSE; US_ITIN; US_MBI; US_PASSPORT; US_SSN; UK_NHS; UK_NINO; "
        "UK_PASSPORT; UK_VEHICLE_REGISTRATION; ES_NIF; ES_NIE; IT_FISCAL_CODE; IT_DRIVER_LICENSE; IT_VAT_CODE; IT_PASSPORT; "
        "IT_IDENTITY_CARD; PL_PESEL; SG_NRIC_FIN; SG_UEN; AU_ABN; AU_ACN; AU_TFN; AU_MEDICARE; IN_PAN; IN_AADHAAR; "
        "IN_VEHICLE_REGISTRATION; IN_VOTER; IN_PASSPORT; FI_PERSONAL_IDENTITY_CODE; KR_RRN; ORGANIZATION; TITLE; AGE; "
        "STREET_ADDRESS; ZIP_CODE; DOMAIN_NAME; GPE; FACILITY"
    ).split("; "),
    "spaCy (OntoNotes)": (
        "PERSON; NORP; FAC; ORG; GPE; LOC; PRODUCT; EVENT; WORK_OF_ART; LAW; LANGUAGE; DATE; TIME; PERCENT; MONEY; QUANTITY; "
        "ORDINAL; CARDINAL; PER; MISC"
    ).split("; "),
    "i2b2 2014": (
        "NAME; PATIENT; DOCTOR; USERNAME; PROFESSION; HOSPITAL; ORGANIZATION; STREET; CITY; STATE; COUNTRY; ZIP; LOCATION-OTHER; "
        "ROOM; DEPARTMENT; AGE; DATE; PHONE; FAX; EMAIL; URL; IPADDR; IPADDRESS; SSN; MEDICALRECORD; HEALTHPLAN; ACCOUNT; "
        "LICENSE; VEHICLE; DEVICE; BIOID; IDNUM; LOCATION; CONTACT; ID"
    ).split("; "),
    "Amazon Comprehend": (
        "ADDRESS; AGE; AWS_ACCESS_KEY; AWS_SECRET_KEY; BANK_ACCOUNT_NUMBER; BANK_ROUTING; CREDIT_DEBIT_CVV; CREDIT_DEBIT_EXPIRY; "
        "CREDIT_DEBIT_NUMBER; DATE_TIME; DRIVER_ID; EMAIL; INTERNATIONAL_BANK_ACCOUNT_NUMBER; IP_ADDRESS; LICENSE_PLATE; "
        "MAC_ADDRESS; NAME; PASSPORT_NUMBER; PASSWORD; PHONE; PIN; SSN; SWIFT_CODE; UK_NATIONAL_INSURANCE_NUMBER; "
        "UK_UNIQUE_TAXPAYER_REFERENCE_NUMBER; URL; USERNAME; US_INDIVIDUAL_TAX_IDENTIFICATION_NUMBER; "
        "VEHICLE_IDENTIFICATION_NUMBER; CA_HEALTH_NUMBER; CA_SOCIAL_INSURANCE_NUMBER; IN_AADHAAR; IN_NREGA; "
        "IN_PERMANENT_ACCOUNT_NUMBER; IN_VOTER_NUMBER; UK_NATIONAL_HEALTH_SERVICE_NUMBER"
    ).split("; "),
    "Google Cloud DLP": (
        "PERSON_NAME; FIRST_NAME; LAST_NAME; MALE_NAME; FEMALE_NAME; PHONE_NUMBER; EMAIL_ADDRESS; STREET_ADDRESS; DATE_OF_BIRTH; "
        "CREDIT_CARD_NUMBER; US_SOCIAL_SECURITY_NUMBER; US_VEHICLE_IDENTIFICATION_NUMBER; IP_ADDRESS; MAC_ADDRESS; IBAN_CODE; "
        "SWIFT_CODE; US_PASSPORT; US_DRIVERS_LICENSE_NUMBER; LOCATION; LOCATION_COORDINATES; ORGANIZATION_NAME; GENDER; "
        "ETHNIC_GROUP; AGE; DATE; TIME; DOMAIN_NAME; URL; MEDICAL_TERM; MEDICAL_RECORD_NUMBER; PASSPORT; GENERIC_ID; AUTH_TOKEN; "
        "PASSWORD; COUNTRY_DEMOGRAPHIC; MARITAL_STATUS; RELIGIOUS_TERM; POLITICAL_TERM; SEXUAL_ORIENTATION; IMEI_HARDWARE_ID; "
        "VEHICLE_IDENTIFICATION_NUMBER; BLOOD_TYPE; EMPLOYMENT_STATUS"
    ).split("; "),
    "Azure AI Language": (
        "Person; PersonType; PhoneNumber; Organization; Address; Email; URL; IP; DateTime; Quantity; Age; ABARoutingNumber; "
        "SWIFTCode; CreditCardNumber; InternationalBankingAccountNumber; USSocialSecurityNumber; USBankAccountNumber; "
        "USDriversLicenseNumber; USUKPassportNumber; EUGPSCoordinates; LicensePlate; SortCode; DateOfBirth; BankAccountNumber; "
        "PassportNumber; DriversLicenseNumber; ZipCode; GovernmentIssuedId; VIN; Airport; City; State"
    ).split("; "),
    "ai4privacy": (
        "ACCOUNTNAME; ACCOUNTNUMBER; AGE; AMOUNT; BIC; BITCOINADDRESS; BUILDINGNUMBER; CITY; COMPANYNAME; COUNTY; CREDITCARDCVV; "
        "CREDITCARDISSUER; CREDITCARDNUMBER; CURRENCY; CURRENCYCODE; CURRENCYNAME; CURRENCYSYMBOL; DATE; DOB; EMAIL; "
        "ETHEREUMADDRESS; EYECOLOR; FIRSTNAME; GENDER; HEIGHT; IBAN; IP; IPV4; IPV6; JOBAREA; JOBTITLE; JOBTYPE; LASTNAME; "
        "LITECOINADDRESS; MAC; MASKEDNUMBER; MIDDLENAME; NEARBYGPSCOORDINATE; ORDINALDIRECTION; PASSWORD; PHONEIMEI; PHONENUMBER; "
        "PIN; PREFIX; SECONDARYADDRESS; SEX; SSN; STATE; STREET; SUFFIX; TIME; URL; USERAGENT; USERNAME; VEHICLEVIN; VEHICLEVRM; "
        "ZIPCODE; GIVENNAME; SURNAME; TELEPHONENUM; IDCARDNUM; SOCIALNUM; TAXNUM; DRIVERLICENSENUM; PASSPORTNUM; BUILDINGNUM; "
        "TITLE; LASTNAME1; GIVENNAME2; COUNTRY; POSTCODE; PASS; CARDISSUER; BOD; GEOCOORD; EMAIL_1; CREDITCARD_2; DISPLAYNAME; "
        "NUMBER; STREETADDRESS; JOBDESCRIPTOR"
    ).split("; "),
    "nedap/deidentify": (
        "Name; Initials; Profession; Hospital; Care_Institute; Organization_Company; Internal_Location; Address; Age; Date; "
        "Phone_fax; Email; URL_IP; SSN; ID; Other"
    ).split("; "),
    "MIMIC-II and -III": (
        "Hospital1; Known lastname; Known firstname; Last Name (NamePattern1); First Name8 (NamePattern2); Telephone/Fax (1); "
        "Doctor Last Name; Location (un); Age over 90; Name (NI); Female First Name (un); Male First Name (un); Month/Day (2); "
        "Year (4 digits); Numeric Identifier; Medical Record Number; Initials (NamePattern4); Company; University/College; "
        "Date range (1); Street Address(2); State; Country; Job Number; Pager number; MD Number(1); Hospital Ward Name; "
        "Hospital Unit Name; Clip Number (Radiology); Attending Info; Dictator Info; CC Contact Info; Wardname; Holiday; "
        "Ethnicity; Serial Number; Unit Number; Social Security Number; PO Box; Apartment Address(1); E-mail address; URL; "
        "Name Initial (NameIs); Name Prefix (Prefixes); Year/Month; Month (only); Day Month; Day Month Year; Street Name; "
        "Patient Name; Hospital; Last Name (Titles); Last Name (LF); Year/Month/Day; Month Day; Location; Doctor First Name; "
        "Name10 (NameIs); Month/Year; Country (un)"
    ).split("; "),
    "Dutch court decisions": (
        "verweerster; geintimeerden; appellante c.s.; eiser c.s.; eiseressen; medeverdachte 3; getuige 1; naam 1; naam bedrijf; "
        "naam stichting; naam kind 1; naam school; slachtoffer 2; geboortedatum 1; adres 3; kenteken 2; rekeningnummer; "
        "bedrijf A; BV X; naam dochter; minderjarige 1; de minderjarige; moeder; vader; de ouders; pleegouders; naam B.V.; "
        "huisnummer; straatnaam; geboorteland; verbalisant 1; persoon A; website; vereniging; naam website; nummer; "
        "dossiernummer; woning; pand; plaats delict; huisarts; naam arts; tbs-kliniek; gecertificeerde instelling; "
        "bijzondere curator; kind 1; zoon 2; vriendin; buurman"
    ).split("; "),
    "Portuguese": (
        "NOME_1; NOME DO PACIENTE; DATA_NASCIMENTO; CPF; CNPJ; ENDERECO; TELEFONE; CIDADE; ESTADO; NUMERO_PROCESSO; VARA; "
        "ADVOGADO; OAB; CRM; HOSPITAL; IDADE; PROFISSAO; AUTOR; RÉU; TESTEMUNHA 2; VÍTIMA; ALUNO 3; PROFESSORA; ESCOLA; TURMA; "
        "E-MAIL; CEP; RG; SEXO; CONTA; VALOR"
    ).split("; "),
    "ways to say that something was redacted": (
        "REDACTED; redacted; Name redacted; REDACTED NAME; Name Removed; name withheld; ANONYMIZED; PHI; PII; REMOVED; "
        "Student Name; TEACHER_NAME; School Name; Your Name; INSERT NAME; Company name here; Customer Name; Order Number; "
        "Account Type; Client First Name; Delivery City; Website URL; Customer Support Phone Number"
    ).split("; "),
}
